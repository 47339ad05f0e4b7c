package node

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// Exec runs a program without a shell.
type Exec struct {
	Program
	Args []*lang.Template
	JSON bool     // protocol: json
	In   []Named  // json only; nil: the output of the node before
	Keys []string // json only: the state keys it may write
	Sees []string // json only: the state keys it is given
}

// Run implements engine.Runner.
func (n *Exec) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	scope := newScope(call)
	argv, err := n.argv(scope)
	if err != nil {
		return engine.Result{}, err
	}
	if n.JSON {
		return n.converse(ctx, call, scope, argv)
	}
	return n.plain(ctx, call, scope, argv)
}

func (n *Exec) argv(scope *callScope) ([]string, error) {
	argv := make([]string, len(n.Args))
	for i, t := range n.Args {
		var err error
		if argv[i], err = scope.render(fmt.Sprintf("exec[%d]", i), t); err != nil {
			return nil, err
		}
		if strings.ContainsRune(argv[i], 0) {
			return nil, engine.Permanent(fmt.Errorf("exec[%d]: an argument cannot hold a NUL character", i))
		}
	}
	if len(argv) == 0 || argv[0] == "" {
		return nil, engine.Permanent(errors.New("exec[0]: the name of the program is empty"))
	}
	return argv, nil
}

// Shell runs a script with /bin/sh -c; values come by environment only.
type Shell struct {
	Program
	Script string
}

// Run implements engine.Runner.
func (n *Shell) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	return n.plain(ctx, call, newScope(call), []string{"/bin/sh", "-c", n.Script})
}

// plain runs a program that speaks no protocol: stdin as the file says, stdout parsed, the exit code as route.
func (p *Program) plain(ctx context.Context, call *engine.Call, scope *callScope, argv []string) (engine.Result, error) {
	stdin, err := p.stdin(scope)
	if err != nil {
		return engine.Result{}, err
	}
	ended, err := p.run(ctx, call, scope, argv, stdin)
	if err != nil {
		return engine.Result{}, err
	}
	output, err := parse(p.Parse, ended.stdout)
	if err != nil {
		return engine.Result{}, fmt.Errorf("%s: output: %w", argv[0], err)
	}
	return engine.Result{Output: output, Route: strconv.Itoa(ended.code)}, nil
}

func (p *Program) stdin(scope *callScope) ([]byte, error) {
	if p.Stdin == nil {
		return nil, nil
	}
	v, err := scope.eval("stdin", p.Stdin)
	if err != nil {
		return nil, err
	}
	if v.IsNull() {
		return nil, engine.Permanent(fmt.Errorf("stdin: %s is null", p.Stdin.Source()))
	}
	if s, ok := v.Any().(string); ok {
		return []byte(s), nil
	}
	return v.JSON(), nil
}
