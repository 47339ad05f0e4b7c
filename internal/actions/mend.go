package actions

import (
	"encoding/json"
	"strings"
)

// MendSchema brings the JSON Schema of another system closer to what CompileSchema takes: `enum` with titles in
// `enumNames` becomes `oneOf` of const and title, and keywords that no draft knows are left out, since a typo in them
// is not for the person who answers to mend. What cannot be read at all comes back as it is.
func MendSchema(raw json.RawMessage) json.RawMessage {
	v, err := parse(raw)
	if err != nil {
		return raw
	}
	return mend(v, keywords()).compact()
}

func mend(v *value, known map[string]int) *value {
	if v.kind != isObject {
		return v
	}
	out := &value{kind: isObject}
	titled := v.titledEnum()
	for _, m := range v.members {
		holds, ok := known[m.name]
		switch {
		case m.name == "enum" && titled != nil:
			m = member{"oneOf", titled}
		case !ok && !strings.HasPrefix(m.name, "x-"):
			continue
		case holds == holdsOne:
			m.value = mend(m.value, known)
		case holds == holdsList && m.value.kind == isList:
			list := &value{kind: isList}
			for _, item := range m.value.items {
				list.items = append(list.items, mend(item, known))
			}
			m.value = list
		case holds == holdsMap && m.value.kind == isObject:
			named := &value{kind: isObject}
			for _, sub := range m.value.members {
				named.members = append(named.members, member{sub.name, mend(sub.value, known)})
			}
			m.value = named
		}
		out.members = append(out.members, m)
	}
	return out
}

// titledEnum is the values of enum with their enumNames, nil where a schema has not both, of one length.
func (v *value) titledEnum() *value {
	enum, names := v.get("enum"), v.get("enumNames")
	if enum == nil || names == nil || len(enum.items) != len(names.items) || v.get("oneOf") != nil {
		return nil
	}
	out := &value{kind: isList}
	for i, item := range enum.items {
		out.items = append(out.items, &value{kind: isObject, members: []member{{"const", item}, {"title", names.items[i]}}})
	}
	return out
}
