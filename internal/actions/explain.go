package actions

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// explain turns the tree of a validation error into one line for each fault, at its place, in the order of places.
func explain(err *jsonschema.ValidationError) []Problem {
	problems := leaves(err)
	slices.SortStableFunc(problems, func(a, b Problem) int { return strings.Compare(a.Pointer, b.Pointer) })
	return slices.Compact(problems)
}

func leaves(err *jsonschema.ValidationError) []Problem {
	place := pointer(err.InstanceLocation)
	switch k := err.ErrorKind.(type) {
	case *kind.AnyOf:
		return alternatives(place, err)
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			return []Problem{{place, "fits more than one of the alternatives"}}
		}
		return alternatives(place, err)
	case *kind.Required:
		problems := make([]Problem, len(k.Missing))
		for i, name := range k.Missing {
			problems[i] = Problem{place + "/" + escapePointer(name), "is required"}
		}
		return problems
	case *kind.AdditionalProperties:
		problems := make([]Problem, len(k.Properties))
		for i, name := range k.Properties {
			problems[i] = Problem{place + "/" + escapePointer(name), "is not expected"}
		}
		return problems
	}
	if len(err.Causes) == 0 {
		return []Problem{{place, message(err)}}
	}
	var problems []Problem
	for _, cause := range err.Causes {
		problems = append(problems, leaves(cause)...)
	}
	return problems
}

// alternatives tells what anyOf or oneOf wanted: the list of values where each alternative is one, else what each
// of the alternatives misses.
func alternatives(place string, err *jsonschema.ValidationError) []Problem {
	var consts, reasons []string
	for _, cause := range err.Causes {
		for _, leaf := range leaves(cause) {
			reason := leaf.String()
			if leaf.Pointer == place {
				reason = leaf.Message
			}
			reasons = append(reasons, reason)
		}
		if c := constOf(cause); c != "" {
			consts = append(consts, c)
		}
	}
	if len(consts) == len(err.Causes) && len(consts) > 0 {
		return []Problem{{place, "must be one of " + strings.Join(consts, ", ")}}
	}
	if meant := likely(err); meant != nil {
		return leaves(meant)
	}
	return []Problem{{place, strings.Join(slices.Compact(reasons), ", or ")}}
}

// likely is the one alternative that is meant: all others want a value of another type, or another constant directly
// within it. nil where that is none or several.
func likely(err *jsonschema.ValidationError) *jsonschema.ValidationError {
	var meant *jsonschema.ValidationError
	for _, cause := range err.Causes {
		if ruledOut(cause, len(err.InstanceLocation)) {
			continue
		}
		if meant != nil {
			return nil
		}
		meant = cause
	}
	return meant
}

// ruledOut tells whether an alternative asks for another type than that of the value at this depth, or for another
// constant in a property of it.
func ruledOut(err *jsonschema.ValidationError, depth int) bool {
	at := len(err.InstanceLocation)
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return at == depth
	case *kind.Const:
		return at <= depth+1
	case *kind.Enum:
		return at == depth+1 && len(k.Want) == 1
	}
	return slices.ContainsFunc(err.Causes, func(c *jsonschema.ValidationError) bool { return ruledOut(c, depth) })
}

func constOf(err *jsonschema.ValidationError) string {
	for len(err.Causes) == 1 {
		err = err.Causes[0]
	}
	if k, ok := err.ErrorKind.(*kind.Const); ok {
		return shown(k.Want)
	}
	return ""
}

func message(err *jsonschema.ValidationError) string {
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", strings.Join(typeNames(k.Want), " or "), typeNames([]string{k.Got})[0])
	case *kind.Enum:
		out := make([]string, len(k.Want))
		for i, w := range k.Want {
			out[i] = shown(w)
		}
		return "must be one of " + strings.Join(out, ", ")
	case *kind.Const:
		return "must be " + shown(k.Want)
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want)
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + decimal(k.Want)
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("must have at least %d characters, has %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters, has %d", k.Want, k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items, has %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items, has %d", k.Want, k.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are the same", k.Duplicates[0]+1, k.Duplicates[1]+1)
	case *kind.Pattern:
		return "must match the pattern " + k.Want
	case *kind.Format:
		return fmt.Sprintf("must be a valid %s", k.Want)
	case *kind.FalseSchema:
		return "is not expected"
	case *kind.Not:
		return "is one of the values that are not allowed"
	}
	if out := err.BasicOutput(); out.Error != nil {
		return out.Error.String()
	}
	return "does not fit the schema"
}

func typeNames(types []string) []string {
	spoken := map[string]string{"string": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
		"array": "a list", "object": "an object", "null": "null"}
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = spoken[t]
		if out[i] == "" {
			out[i] = t
		}
	}
	return out
}

// shown is a value in a message: texts in single quotes, so that the message stays readable inside JSON.
func shown(x any) string {
	v := fromPlain(x)
	if v.kind == isText {
		return "'" + v.text + "'"
	}
	return v.display()
}

// decimal writes a bound as a person would, without needless zeros.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	if n, exact := r.FloatPrec(); exact {
		return r.FloatString(n)
	}
	f, _ := r.Float64()
	return fmt.Sprint(f)
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + escapePointer(t))
	}
	return b.String()
}
