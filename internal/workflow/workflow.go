// Package workflow reads workflow files into graphs for the engine and reports every fault in them at once, with
// line, excerpt and the nearest valid name. It runs nothing.
package workflow

import (
	"context"
	"encoding/json"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// Loaded is a workflow file that validates.
type Loaded struct {
	Name        string
	Description string
	Graph       *engine.Graph
	Definition  checkpoint.Definition
	Input       json.RawMessage // JSON Schema of the input object, with type, defaults and additionalProperties filled in
	InputKeys   []string        // in file order, for forms
	Warnings    Faults
}

// Fault is one mistake in a file.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Excerpt string `json:"excerpt,omitempty"` // the line, with a caret line below it
}

// Faults are all mistakes of a file and of those it names, in order of place. As an error it prints them all.
type Faults []Fault

func (f Faults) Error() string { panic("contract only") }

// Load reads FILE or FILE::GRAPH and whatever it names. The error is Faults, or wraps fs.ErrNotExist.
func Load(ref string) (*Loaded, error) { panic("contract only") }

// Input checks and completes an input object: unknown keys refused, defaults filled in, scalars coerced.
func (l *Loaded) CheckInput(in map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	panic("contract only")
}

// Graphs implements engine.Graphs over the definitions that threads keep, with a cache by fingerprint.
type Graphs struct{}

// Graph makes the graph of a definition.
func (g *Graphs) Graph(ctx context.Context, d checkpoint.Definition) (*engine.Graph, error) {
	panic("contract only")
}

// Schema is the JSON Schema of the YAML format, generated from the types.
func Schema() []byte { panic("contract only") }
