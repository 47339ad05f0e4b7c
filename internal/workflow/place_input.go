package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// inputT is a place for the JSON Schema of the input object.
type inputT struct {
	v        *value
	raw      json.RawMessage // with type and additionalProperties filled in; nil when it has faults
	keys     []*value        // the properties in file order
	compiled *actions.Schema
}

// noInput is the schema of a workflow that takes no input.
const noInput = `{"type":"object","properties":{},"additionalProperties":false}`

func (p *inputT) take(r *reader, name string, v *value) {
	if v.shape != mappingShape {
		r.fault(v.at, "input must be the JSON Schema of an object, not %v", v)
		return
	}
	p.v = v
	if t := v.get("type"); t != nil && (t.shape != scalarShape || t.text != "object") {
		r.fault(t.at, "the input of a workflow is an object: leave type out, or write type: object")
		return
	}
	if props := v.get("properties"); props != nil && props.shape == mappingShape {
		for _, e := range props.entries {
			if r.stateKey(e.key) {
				p.keys = append(p.keys, e.key)
			}
		}
	}
	o := r.toJSON(v).(object)
	for _, m := range []member{{"type", "object"}, {"properties", object{}}} {
		if v.get(m.key) == nil {
			o = append(o, m)
		}
	}
	// Without additionalProperties the schema itself refuses keys it does not list, and suggests the nearest.
	p.raw, p.compiled = r.compile(v, o)
	if v.get("additionalProperties") == nil && p.raw != nil {
		p.raw = r.rawOf(v, append(o, member{"additionalProperties", false}))
	}
}

func (p *inputT) schema() schema { return ref("jsonSchema") }

// checkSchema reports the faults of a literal JSON Schema.
func (r *reader) checkSchema(v *value) { r.compile(v, r.toJSON(v)) }

// compile compiles a JSON Schema written as v, each fault at its place in the file.
func (r *reader) compile(v *value, plain any) (json.RawMessage, *actions.Schema) {
	raw, err := marshal(plain)
	if err != nil {
		r.fault(v.at, "not a JSON Schema: %v", err)
		return nil, nil
	}
	compiled, err := actions.CompileSchema(raw)
	if err == nil {
		return raw, compiled
	}
	var faults *actions.SchemaError
	if !errors.As(err, &faults) {
		r.fault(v.at, "not a JSON Schema: %v", err)
		return nil, nil
	}
	for _, p := range faults.Problems {
		r.schemaProblem(v, p)
	}
	return nil, nil
}

func (r *reader) schemaProblem(v *value, p actions.Problem) {
	switch at := v.atPointer(p.Pointer); {
	case strings.HasPrefix(p.Message, "unknown schema keyword "):
		for _, e := range at.entries {
			if strings.HasPrefix(p.Message, "unknown schema keyword "+strconv.Quote(e.key.text)) {
				r.fault(e.key.at, "%s", p.Message)
				return
			}
		}
		r.fault(at.at, "%s", p.Message)
	case strings.HasPrefix(p.Message, "references outside"):
		r.fault(outsideReference(v).at, "%s", p.Message)
	case p.Pointer == "":
		r.fault(at.at, "not a JSON Schema: %s", p.Message)
	default:
		r.fault(at.at, "not a JSON Schema: at '%s': %s", p.Pointer, p.Message)
	}
}

// atPointer is the value an RFC 6901 pointer leads to, or the last on the way that is there.
func (v *value) atPointer(pointer string) *value {
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		next := v.get(step)
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v.list) {
			next = v.list[i]
		}
		if next == nil {
			return v
		}
		v = next
	}
	return v
}

// outsideReference is the first reference of a schema that does not stay in it, else the schema.
func outsideReference(v *value) *value {
	var found *value
	var walk func(*value)
	walk = func(x *value) {
		for _, e := range x.entries {
			if slices.Contains([]string{"$ref", "$dynamicRef", "$schema"}, e.key.text) && !strings.HasPrefix(e.value.text, "#") && found == nil {
				found = e.value
			}
			walk(e.value)
		}
		for _, item := range x.list {
			walk(item)
		}
	}
	if walk(v); found != nil {
		return found
	}
	return v
}

// InputError says what is wrong with the input of a workflow.
type InputError struct {
	Workflow string
	Err      error
}

// Error names the workflow and every mistake.
func (e *InputError) Error() string { return fmt.Sprintf("input of %s: %v", e.Workflow, e.Err) }

// Unwrap is the *actions.DataError, with a pointer to each mistake.
func (e *InputError) Unwrap() error { return e.Err }
