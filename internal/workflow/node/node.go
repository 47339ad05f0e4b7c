// Package node holds the node kinds: each type is one kind, filled in from a file by package workflow, and implements
// engine.Runner. Map and nested workflow are the engine's own and not here.
package node

import (
	"context"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// Parse says what a program's output is made into.
type Parse string

// The ways to read output; Text is the default.
const (
	ParseText  Parse = "text" // one final newline removed
	ParseRaw   Parse = "raw"
	ParseLines Parse = "lines"
	ParseJSON  Parse = "json"
	ParseCSV   Parse = "csv" // header row; objects; every value a text
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

// Program is what exec and shell share.
type Program struct {
	Stdin       *lang.Expr     // a text as is, anything else as JSON; nil: empty
	Env         []NamedText    // of the node, after FileEnv
	FileEnv     []NamedText    // of the file, for every program
	InheritEnv  []string       // nil: all but HITL_TUI_*
	Workdir     *lang.Template // nil: FileWorkdir, else the folder in which the thread was started
	FileWorkdir *lang.Template
	Accept      []int // further exit codes that are no failure
	Parse       Parse
	OutputLimit int64 // bytes; 0 is 16 MiB
}

// Exec runs a program without a shell.
type Exec struct {
	Program
	Args []*lang.Template
	JSON bool     // protocol: json
	In   []Named  // json only; nil: the output of the node before
	Keys []string // json only: the state keys it may write
}

// Run implements engine.Runner.
func (n *Exec) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	panic("contract only")
}

// Shell runs a script with /bin/sh -c; values come by environment only.
type Shell struct {
	Program
	Script string
}

// Run implements engine.Runner.
func (n *Shell) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	panic("contract only")
}

// Template makes a text.
type Template struct{ Text *lang.Template }

// Run implements engine.Runner.
func (n *Template) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	panic("contract only")
}

// Set computes state keys, top to bottom; each line sees those above.
type Set struct{ Lines []Named }

// Run implements engine.Runner.
func (n *Set) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	panic("contract only")
}

// Question is one question as a file writes it.
type Question struct {
	Name           string // "" for the only question of a human node
	Kind           actions.Kind
	Title          *lang.Template
	Message        *lang.Template
	Content        *lang.Expr // one with a Key is written back by edit and save
	ContentType    string
	Context        []Named
	Options        []Option   // literal options, or
	OptionsExpr    *lang.Expr // one that makes the list
	Multiple       bool
	Schema         *lang.Expr // a literal is lang.Literal
	Prefill        *lang.Expr
	Actions        []actions.Action
	RequireComment []actions.Action
	Timeout        time.Duration
	DefaultAction  actions.Action
	DefaultData    *lang.Expr
	PeopleOnly     bool
	Assignee       *lang.Template
	Group          *lang.Template
	Priority       *lang.Template
}

// Option is one literal option.
type Option struct {
	Value       engine.Value
	Label       *lang.Template
	Description *lang.Template
}

// Human asks: one question (human) or several (questions).
type Human struct{ Questions []Question }

// Run implements engine.Runner.
func (n *Human) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	panic("contract only")
}

// Wait waits for a duration or until a time.
type Wait struct {
	For   time.Duration
	Until *lang.Expr
}

// Run implements engine.Runner.
func (n *Wait) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	panic("contract only")
}

// Fail fails with a message.
type Fail struct{ Message *lang.Template }

// Run implements engine.Runner.
func (n *Fail) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	panic("contract only")
}
