// Package workflow reads workflow files into graphs for the engine and reports every fault in them at once, with
// line, excerpt and the nearest valid name. It runs nothing.
package workflow

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/agentmap"
)

// Loaded is a workflow file that validates.
type Loaded struct {
	Name        string
	Description string
	Graph       *engine.Graph
	Definition  checkpoint.Definition
	Input       json.RawMessage // JSON Schema of the input object, with type, properties and additionalProperties filled in
	InputKeys   []string        // in file order, for forms
	Warnings    Faults

	input   *actions.Schema
	lenient bool     // AgentMap's rules hold
	outputs []string // the fields of what a run of it gives; nil: not known
}

// Load reads FILE and whatever it names, without folders in which workflows are found by name.
func Load(ref string) (*Loaded, error) { return Library{}.Load(ref) }

// readText reads a file, and of one that is too large no more than shows it.
func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(limitOf(path))+1))
	return string(text), err
}

// parse makes a workflow of the text of a file that names no others; path is how faults call it. The error is Faults.
func parse(path, text string) (*Loaded, error) {
	return (&bundle{source: kept{{Path: path, Text: text}}}).root(path)
}

// load makes a workflow of a file's values; asks is whether a node of it may wait for a person.
func (s *source) load(root *value, bundle *bundle, name string) (l *Loaded, asks bool) {
	if root == nil {
		return nil, false
	}
	f := readFile(s, root)
	if f == nil {
		return nil, false
	}
	b := newBuilder(s, f, bundle, name)
	l = &Loaded{Name: f.name.text, Description: f.description.text, Graph: b.graph(), Input: f.input.raw, input: f.input.compiled, lenient: s.lenient}
	b.check()
	if f.input.v == nil {
		l.Input = json.RawMessage(noInput)
		l.input, _ = actions.CompileSchema(json.RawMessage(`{"type":"object","properties":{}}`))
	}
	for _, k := range f.input.keys {
		l.InputKeys = append(l.InputKeys, k.text)
	}
	l.Graph.Inputs = l.inputs()
	b.checkState(l.openInput())
	l.outputs = b.outputs(l.openInput())
	return l, slices.ContainsFunc(f.nodes.list, (*nodeDef).mayAsk)
}

// outputs are the names in what a run gives: those of output, else all state keys; nil where an open input adds others.
func (b *builder) outputs(open bool) []string {
	switch {
	case b.file.output.given:
		names := []string{}
		for _, x := range b.file.output.list {
			names = append(names, x.key.text)
		}
		return names
	case open:
		return nil
	}
	return append([]string{}, b.own.Keys...)
}

// keyOf is the input key that a name means: by AgentMap's rules one with characters that no key has means that with _ in
// their place.
func (l *Loaded) keyOf(name string) string {
	if l.lenient && !slices.Contains(l.InputKeys, name) {
		return agentmap.Key(name)
	}
	return name
}

// fit gives the keys of an input their own names, and by AgentMap's rules leaves out what no key takes.
func (l *Loaded) fit(in map[string]json.RawMessage) (fitted map[string]json.RawMessage, left []string) {
	fitted = make(map[string]json.RawMessage, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		key := l.keyOf(name)
		if l.lenient && !slices.Contains(l.InputKeys, key) && !l.openInput() {
			left = append(left, name)
			continue
		}
		fitted[key] = in[name]
	}
	return fitted, left
}

// LeftOut are the keys of an input that by AgentMap's rules CheckInput leaves out, since nothing in the file names them.
func (l *Loaded) LeftOut(in map[string]json.RawMessage) []string {
	_, left := l.fit(in)
	return left
}

// CheckInput checks and completes an input object: unknown keys refused, defaults filled in, scalars coerced. The
// error is *InputError.
func (l *Loaded) CheckInput(in map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	in, _ = l.fit(in)
	raw, err := marshal(in)
	if err != nil {
		return nil, &InputError{l.Name, err}
	}
	whole, err := l.input.Complete(raw)
	if err != nil {
		return nil, &InputError{l.Name, err}
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(whole, &out); err != nil {
		return nil, &InputError{l.Name, err}
	}
	return out, nil
}
