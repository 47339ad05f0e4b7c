package actions

import "slices"

// IsSecret says whether the question is answered with a secret: its schema calls the value, or a field of it, writeOnly
// or of format password. Such an answer is never echoed, drafted or written to a file, and the record of decisions keeps
// only what Recorded leaves of it.
func (q Question) IsSecret() bool {
	if len(q.Schema) == 0 {
		return false
	}
	s, err := CompileSchema(q.Schema)
	if err != nil {
		return false
	}
	return s.Secret()
}

// Secret says whether a value of the schema is a secret or holds one, wherever it stands.
func (s *Schema) Secret() bool { return len(s.secretNames()) > 0 || s.Root().Secret }

// secretNames is the names of all properties that are secret, wherever in the schema they stand: within lists,
// alternatives and what is only referred to.
func (s *Schema) secretNames() map[string]bool {
	names := map[string]bool{}
	known := keywords()
	var walk func(v *value)
	walk = func(v *value) {
		if v == nil || v.kind != isObject {
			return
		}
		for _, m := range v.members {
			switch known[m.name] {
			case holdsOne:
				walk(m.value)
			case holdsList:
				for _, item := range m.value.items {
					walk(item)
				}
			case holdsMap:
				for _, sub := range m.value.members {
					if m.name == "properties" && s.secret(sub.value, maxReferences) {
						names[sub.name] = true
					}
					walk(sub.value)
				}
			}
		}
	}
	walk(s.source)
	return names
}

// secret tells whether a value, an item of it or one of its alternatives is secret.
func (s *Schema) secret(v *value, budget int) bool {
	if v == nil || budget == 0 {
		return false
	}
	parts := s.partsOf(v)
	within := func(item *value) bool { return s.secret(item, budget-1) }
	return textIn(parts, "format") == "password" || slices.ContainsFunc(parts, func(p *value) bool {
		list := slices.Concat(itemsOf(p.get("anyOf")), itemsOf(p.get("oneOf")))
		return p.get("writeOnly").isTrue() || slices.ContainsFunc(list, within) || p.get("items") != nil && within(p.get("items"))
	})
}

func itemsOf(v *value) []*value {
	if v == nil {
		return nil
	}
	return v.items
}
