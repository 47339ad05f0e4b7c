package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// How the value of a keyword of JSON Schema 2020-12 holds further schemas.
const (
	holdsNone = iota
	holdsOne
	holdsList
	holdsMap
)

// keywords is every keyword of JSON Schema 2020-12 and how it holds further schemas.
func keywords() map[string]int {
	k := map[string]int{}
	for _, name := range strings.Fields(`$schema $id $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment type enum
		const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern maxItems minItems
		uniqueItems maxContains minContains maxProperties minProperties required dependentRequired title description
		default deprecated readOnly writeOnly examples format contentEncoding contentMediaType`) {
		k[name] = holdsNone
	}
	for _, name := range strings.Fields(`not if then else items contains additionalProperties propertyNames
		unevaluatedItems unevaluatedProperties contentSchema`) {
		k[name] = holdsOne
	}
	for _, name := range strings.Fields(`allOf anyOf oneOf prefixItems`) {
		k[name] = holdsList
	}
	for _, name := range strings.Fields(`$defs definitions properties patternProperties dependentSchemas`) {
		k[name] = holdsMap
	}
	return k
}

// checkKeywords reports every unknown keyword of v and of the schemas within it. Names that begin with x- are
// extensions of others and pass.
func checkKeywords(v *value, pointer string, known map[string]int) []Problem {
	if v.kind != isObject {
		return nil
	}
	if known == nil {
		known = keywords()
	}
	var problems []Problem
	for _, m := range v.members {
		here := pointer + "/" + escapePointer(m.name)
		holds, ok := known[m.name]
		switch {
		case !ok && !strings.HasPrefix(m.name, "x-"):
			problems = append(problems, Problem{Pointer: pointer, Message: fmt.Sprintf("unknown schema keyword %s%s",
				quote(m.name), nearest.Hint(m.name, sortedKeys(known)))})
		case holds == holdsOne:
			problems = append(problems, checkKeywords(m.value, here, known)...)
		case holds == holdsList:
			for i, item := range m.value.items {
				problems = append(problems, checkKeywords(item, fmt.Sprintf("%s/%d", here, i), known)...)
			}
		case holds == holdsMap:
			for _, sub := range m.value.members {
				problems = append(problems, checkKeywords(sub.value, here+"/"+escapePointer(sub.name), known)...)
			}
		}
	}
	return problems
}

func sortedKeys(m map[string]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
