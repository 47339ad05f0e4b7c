package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"charm.land/fang/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/redact"
)

// system is what the program has of the machine it runs on.
type machine struct {
	in     *os.File
	out    io.Writer
	err    io.Writer
	getenv func(string) string
	outTTY bool
	errTTY bool
	inTTY  bool
	width  int // of the terminal at out; 0 for none
}

func system() *machine {
	m := &machine{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	m.inTTY = term.IsTerminal(os.Stdin.Fd())
	m.outTTY = term.IsTerminal(os.Stdout.Fd())
	m.errTTY = term.IsTerminal(os.Stderr.Fd())
	if m.outTTY {
		if width, _, err := term.GetSize(os.Stdout.Fd()); err == nil {
			m.width = width
		}
	}
	return m
}

// app is one invocation: the machine and the global flags.
type app struct {
	*machine
	flags  globals
	redact redact.Rules // of the configuration, once it is read
	store  string       // the URL of the store, once it is known
	code   int          // exit code a command chose although nothing failed
	wrote  *writes      // whether anything was printed on standard output
}

// writes passes on what is printed and knows whether anything was.
type writes struct {
	io.Writer
	any bool
}

func (w *writes) Write(p []byte) (int, error) {
	w.any = w.any || len(p) > 0
	return w.Writer.Write(p)
}

// globals are the flags every command has.
type globals struct {
	store    string
	config   string
	reviewer string
	json     bool
	quiet    bool
	readOnly bool
	exitCode bool

	accessible bool // of the commands that open the desk
}

// shownError is an error the command has already told; only its exit code is left.
type shownError struct{ code string }

func (e *shownError) Error() string { return e.code }

// exitError ends with an exit code of its own after its message has been told.
type exitError struct{ exit int }

func (e *exitError) Error() string { return fmt.Sprintf("exit %d", e.exit) }

// run runs one command line and gives the exit code. A panic is a bug: it is told as one and exits 70.
func run(args []string, m *machine) (exit int) {
	printed := &writes{Writer: m.out}
	own := *m
	own.out = printed
	a := &app{machine: &own, wrote: printed}
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(m.err, "hitl-tui: a bug: %v\n\n%s\nPlease report this with the lines above.\n", p, debug.Stack())
			exit = desk.ExitBug
		}
	}()
	root := a.root()
	a.wrapHelp(root)
	root.SetArgs(args)
	root.SetIn(m.in)
	root.SetOut(a.out)
	root.SetErr(m.err)
	ctx, stop := a.signals(context.Background())
	defer stop()
	err := fang.Execute(ctx, root,
		fang.WithVersion(versionText()),
		fang.WithoutManpage(),
		fang.WithErrorHandler(func(io.Writer, fang.Styles, error) {}),
	)
	return a.exitOf(ctx, args, err)
}

// exitOf tells err where that was not done yet and maps it to the exit code.
func (a *app) exitOf(ctx context.Context, args []string, err error) int {
	var own *exitError
	var shown *shownError
	switch {
	case err == nil:
		return a.code
	case errors.As(err, &own):
		return own.exit
	case errors.As(err, &shown):
		return signalled(ctx, desk.ExitCode(shown.code))
	}
	code := desk.Code(err)
	if code == desk.CodeInternal && isUsage(err) {
		code = desk.CodeUsage
	}
	a.tell(err)
	if !a.wrote.any && (a.flags.json || asksJSON(args)) {
		a.refuse(err, code)
	}
	return signalled(ctx, desk.ExitCode(code))
}

// asksJSON reports whether a command line asks for JSON, where a fault in it kept its flags from being read.
func asksJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// refuse prints an error as an envelope: what reads JSON finds some, whichever command it was.
func (a *app) refuse(err error, code string) {
	e := wire.FromError(err, nil)
	e.Error.Code, e.Error.Message = code, a.safe(err, e.Error.Message)
	if failed := a.printJSON(e); failed != nil {
		a.tell(failed)
	}
}

// signalled turns the exit code of a cancelled command into the one of the signal that cancelled it.
func signalled(ctx context.Context, exit int) int {
	var caught *signalError
	if exit == desk.ExitCancelled && errors.As(context.Cause(ctx), &caught) {
		return caught.exit()
	}
	return exit
}

// command makes a cobra command whose RunE gets this app.
func (a *app) command(use, short, long, example string, args cobra.PositionalArgs, do func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: filled(long), Example: example, Args: usageArgs(args), RunE: do}
}

// filled makes one line of each paragraph, as whoever shows it breaks lines where they end there. What is indented stays.
func filled(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, "    ") {
			paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// helpWidth is how wide help is shown at most, with its margins.
const (
	helpWidth   = 120
	helpMargins = 4
)

// wrapHelp breaks the lines of help at spaces: what shows it would break them at hyphens, too, and so in the middle of options.
func (a *app) wrapHelp(root *cobra.Command) {
	width := helpWidth
	if a.width > 0 {
		width = min(a.width, helpWidth)
	}
	for _, c := range append(root.Commands(), root) {
		c.Long = wrapped(c.Long, max(20, width-helpMargins))
	}
}

// wrapped breaks lines at spaces; what is indented stays.
func wrapped(text string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, " ") {
			lines = append(lines, line)
			continue
		}
		now := ""
		for word := range strings.FieldsSeq(line) {
			if now != "" && ansi.StringWidth(now)+1+ansi.StringWidth(word) > width {
				lines = append(lines, now)
				now = ""
			}
			now = strings.TrimPrefix(now+" "+word, " ")
		}
		lines = append(lines, now)
	}
	return strings.Join(lines, "\n")
}

// usageArgs makes what cobra says about arguments an error with the code usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(cmd, args); err != nil {
			return &desk.Error{Code: desk.CodeUsage, Message: err.Error(), Remedy: fmt.Sprintf("see `%s --help`", cmd.CommandPath())}
		}
		return nil
	}
}

// isUsage tells cobra's own complaints, which have no type, from bugs.
func isUsage(err error) bool {
	for _, start := range []string{"unknown command", "unknown flag", "unknown shorthand", "flag needs an argument", "invalid argument", "if any flags in the group", "required flag", "bad flag syntax"} {
		if len(err.Error()) >= len(start) && err.Error()[:len(start)] == start {
			return true
		}
	}
	return false
}
