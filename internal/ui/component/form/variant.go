package form

import (
	"encoding/json"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// bestOf is the variant that a value is most likely one of, -1 for none. It only decides how the value is shown:
// whatever it picks, nothing of the value gets lost.
func bestOf(variants []actions.Field, v json.RawMessage) int {
	best, at := -1, -1
	for i, spec := range variants {
		if score := fit(spec, v, 0); score > best {
			best, at = score, i
		}
	}
	return at
}

// fit tells how well a value fits a field: -1 not at all, else the more the better.
func fit(f actions.Field, v json.RawMessage, depth int) int {
	if string(v) == "null" {
		if f.Nullable || f.Kind == actions.RawField {
			return 1
		}
		return -1
	}
	text := len(v) > 0 && v[0] == '"'
	ok := true
	switch f.Kind {
	case actions.ObjectField:
		return fitObject(f, v, depth)
	case actions.VariantField:
		if depth > maxFit || bestOf(f.Variants(), v) >= 0 {
			return 1
		}
		return -1
	case actions.ListField, actions.ManyField, actions.ItemsField:
		_, ok = itemsOf(v)
	case actions.TextField:
		ok = text
	case actions.NumberField:
		ok = isNumber(string(v))
	case actions.IntegerField:
		var whole float64
		ok = isNumber(string(v)) && (json.Unmarshal(v, &whole) != nil || whole == float64(int64(whole)))
		if ok {
			return 2
		}
	case actions.BooleanField:
		ok = string(v) == "true" || string(v) == "false"
	case actions.SelectField:
		ok = false
		for _, o := range f.Options {
			ok = ok || same(o.Value, v)
		}
		if ok {
			return 3
		}
	default:
		return 0
	}
	if !ok {
		return -1
	}
	return 1
}

// maxFit is how deep a value is looked at.
const maxFit = 4

func fitObject(f actions.Field, v json.RawMessage, depth int) int {
	members, err := membersOf(v)
	if err != nil {
		return -1
	}
	score := 1
	has := map[string]json.RawMessage{}
	for _, m := range members {
		has[m.name] = m.value
	}
	for _, p := range f.Properties() {
		value, there := has[p.Name]
		switch {
		case !there && p.Required:
			score -= 2
		case !there:
		case p.Const != nil && !same(p.Const, value):
			return -1
		case p.Const != nil:
			score += 100
		case depth > maxFit || fit(p, value, depth+1) >= 0:
			score += 2
		}
	}
	return max(score, 0)
}
