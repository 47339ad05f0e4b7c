// Package node holds the node kinds: each type is one kind, filled in from a file by package workflow, and implements
// engine.Runner. Map and nested workflow are the engine's own and not here.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// Named is one entry of an ordered mapping name -> expression.
type Named struct {
	Name string
	Expr *lang.Expr
}

// NamedText is one entry of an ordered mapping name -> template.
type NamedText struct {
	Name string
	Text *lang.Template
}

// Template makes a text.
type Template struct{ Text *lang.Template }

// Run implements engine.Runner.
func (n *Template) Run(_ context.Context, call *engine.Call) (engine.Result, error) {
	s, err := n.Text.Render(newScope(call))
	if err != nil {
		return engine.Result{}, err
	}
	v, err := engine.ValueOf(s)
	return engine.Result{Output: v}, err
}

// Set computes state keys, top to bottom; each line sees those above.
type Set struct{ Lines []Named }

// Run implements engine.Runner.
func (n *Set) Run(_ context.Context, call *engine.Call) (engine.Result, error) {
	scope := newScope(call)
	scope.above = make(map[string]engine.Value, len(n.Lines))
	for _, line := range n.Lines {
		v, err := line.Expr.Eval(scope, engine.Value{})
		if err != nil {
			return engine.Result{}, fmt.Errorf("set.%s: %w", line.Name, err)
		}
		scope.above[line.Name] = v
	}
	return engine.Result{Updates: scope.above}, nil
}

// Fail fails with a message.
type Fail struct{ Message *lang.Template }

// Run implements engine.Runner.
func (n *Fail) Run(_ context.Context, call *engine.Call) (engine.Result, error) {
	s, err := n.Message.Render(newScope(call))
	if err != nil {
		return engine.Result{}, fmt.Errorf("fail: %w", err)
	}
	return engine.Result{}, engine.Permanent(errors.New(s))
}

// callScope is what a call may read, with the engine's clock for now() and, in a set node, the lines above.
type callScope struct {
	engine.Scope
	now   func() time.Time
	above map[string]engine.Value
}

func newScope(call *engine.Call) *callScope {
	s := &callScope{Scope: call.Scope, now: call.Now}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Now implements lang.Clock.
func (s *callScope) Now() time.Time { return s.now() }

// Lookup implements engine.Scope.
func (s *callScope) Lookup(name string) (engine.Value, bool) {
	if v, ok := s.above[name]; ok {
		return v, true
	}
	if s.Scope == nil {
		return engine.Value{}, false
	}
	return s.Scope.Lookup(name)
}

// render is the text of t under a place that an error names; "" without a template.
func (s *callScope) render(place string, t *lang.Template) (string, error) {
	if t == nil {
		return "", nil
	}
	text, err := t.Render(s)
	if err != nil {
		return "", fmt.Errorf("%s: %w", place, err)
	}
	return text, nil
}

// eval is the value of e under a place that an error names; null without an expression.
func (s *callScope) eval(place string, e *lang.Expr) (engine.Value, error) {
	if e == nil {
		return engine.Value{}, nil
	}
	v, err := e.Eval(s, engine.Value{})
	if err != nil {
		return engine.Value{}, fmt.Errorf("%s: %w", place, err)
	}
	return v, nil
}

// object evaluates entries in their order into one object.
func (s *callScope) object(place string, entries []Named) (map[string]json.RawMessage, error) {
	object := make(map[string]json.RawMessage, len(entries))
	for _, e := range entries {
		v, err := s.eval(place+"."+e.Name, e.Expr)
		if err != nil {
			return nil, err
		}
		object[e.Name] = v.JSON()
	}
	return object, nil
}
