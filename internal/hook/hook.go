// Package hook runs the programs of a configuration when a question appears. They are told of it and asked nothing: what
// they print goes to the log, and what they answer is no answer.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// Program is what is run.
type Program struct {
	Argv    []string // no shell
	Timeout time.Duration
	Env     []string // of the child, NAME=value
}

// mostSaid is how much of what a program says is kept, in bytes.
const mostSaid = 4096

// Run runs the program with told on its standard input, and more variables. A program that fails, or does not end in time,
// is an error that says what it said last.
func (p Program) Run(ctx context.Context, told []byte, more ...string) error {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	said := &tail{most: mostSaid}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(told), said, said
	cmd.Env = append(append([]string{}, p.Env...), more...)
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it left something running behind it
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("%s did not end within %s", p.Argv[0], p.Timeout)
	default:
		err = fmt.Errorf("%s: %w", p.Argv[0], err)
	}
	if text := sanitize.Line(string(bytes.TrimSpace(said.kept))); text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// tail keeps the end of what is written to it.
type tail struct {
	most int
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	t.kept = t.kept[max(len(t.kept)-t.most, 0):]
	return len(b), nil
}
