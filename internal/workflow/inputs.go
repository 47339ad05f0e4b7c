package workflow

import (
	"encoding/json"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// inputSchema is the part of an input's schema that says which keys there are.
type inputSchema struct {
	Required   []string                   `json:"required"`
	Additional any                        `json:"additionalProperties"`
	Properties map[string]json.RawMessage `json:"properties"`
	Defs       json.RawMessage            `json:"$defs"`
	OldDefs    json.RawMessage            `json:"definitions"`
}

func (l *Loaded) inputSchema() (s inputSchema) {
	_ = json.Unmarshal(l.Input, &s) // a compiled schema; of one with faults nothing is known
	return s
}

// fallback is the default of a property, nil where it has none.
func (s inputSchema) fallback(key string) json.RawMessage {
	var p struct {
		Default json.RawMessage `json:"default"`
	}
	if json.Unmarshal(s.Properties[key], &p) != nil {
		return nil // the property is true or false, which allows or forbids it
	}
	return p.Default
}

// required are the inputs that must be given.
func (l *Loaded) required() []string {
	s := l.inputSchema()
	return slices.DeleteFunc(s.Required, func(key string) bool { return s.fallback(key) != nil })
}

// openInput reports whether keys that the schema does not list are taken.
func (l *Loaded) openInput() bool {
	extra := l.inputSchema().Additional
	return extra != nil && extra != false
}

// inputs says of each input key what its values must be.
func (l *Loaded) inputs() map[string]engine.Input {
	s := l.inputSchema()
	required := l.required()
	keys := make(map[string]engine.Input, len(s.Properties))
	for _, key := range l.InputKeys {
		x := engine.Input{Required: slices.Contains(required, key), Take: s.taker(key)}
		if raw := s.fallback(key); raw != nil {
			if v, err := engine.ValueOf(raw); err == nil {
				x.Default = &v
			}
		}
		keys[key] = x
	}
	return keys
}

// taker checks a value for one key against its property alone, and makes it what that wants as an input is made.
func (s inputSchema) taker(key string) func(engine.Value) (engine.Value, error) {
	whole := map[string]any{"type": "object", "properties": map[string]json.RawMessage{key: s.Properties[key]}}
	for name, defs := range map[string]json.RawMessage{"$defs": s.Defs, "definitions": s.OldDefs} {
		if defs != nil {
			whole[name] = defs
		}
	}
	return func(v engine.Value) (engine.Value, error) {
		raw, err := marshal(whole)
		if err != nil {
			return v, err
		}
		schema, err := actions.CompileSchema(raw)
		if err != nil {
			return v, nil // it refers to what only the whole schema holds: nothing is known of this key alone
		}
		object, err := marshal(map[string]json.RawMessage{key: v.JSON()})
		if err != nil {
			return v, err
		}
		if object, err = schema.Complete(object); err != nil {
			return v, err
		}
		var taken map[string]json.RawMessage
		if err := json.Unmarshal(object, &taken); err != nil {
			return v, err
		}
		return engine.ValueOf(taken[key])
	}
}
