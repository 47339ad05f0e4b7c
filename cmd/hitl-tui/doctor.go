package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// The levels of a finding.
const (
	levelOK      = "ok"
	levelNote    = "note"
	levelProblem = "problem"
)

func (a *app) doctorCommand() *cobra.Command {
	var quick bool
	cmd := a.command("doctor", "Look whether all is well, and say what to do",
		`Looks at the configuration, the store, its size and growth, who can read it, every step, state and decision in it, what
could be pruned, the programs that waiting threads need, and the terminal. It changes nothing. Each line that is no "ok" says what
to do; with a problem among them it exits 1. --quick does not rebuild states, which takes longest.`,
		"hitl-tui doctor\nhitl-tui doctor --quick --json", cobra.NoArgs, nil)
	cmd.Flags().BoolVar(&quick, "quick", false, "do not rebuild the state of every step")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		a.flags.readOnly = true // looking changes nothing, not even the schema
		x := &examination{app: a, quick: quick}
		x.all(cmd.Context())
		return x.tell()
	}
	return cmd
}

// examination is what a doctor has found so far.
type examination struct {
	*app
	quick    bool
	findings []wire.Finding
	store    *wire.DoctorStore
}

func (x *examination) add(check, level, remedy, format string, args ...any) {
	f := wire.Finding{Check: check, Level: level, Text: fmt.Sprintf(format, args...)}
	if remedy != "" {
		f.Remedy = &remedy
	}
	x.findings = append(x.findings, f)
}

func (x *examination) ok(check, format string, args ...any) {
	x.add(check, levelOK, "", format, args...)
}

// fail adds a problem that is an error: its remedy is the error's own where it has one.
func (x *examination) fail(check string, err error, remedy string) {
	var own *desk.Error
	text := err.Error()
	if errors.As(err, &own) && own.Message != "" {
		text = own.Message
		if own.Remedy != "" {
			remedy = own.Remedy
		}
	}
	x.add(check, levelProblem, remedy, "%s", x.safe(err, strings.TrimSpace(text)))
}

func (x *examination) all(ctx context.Context) {
	s, err := x.setup()
	if err != nil {
		x.fail("configuration", err, "mend the file, or name another with --config")
		x.terminal()
		return
	}
	x.configuration(s)
	if d := x.open(ctx, s); d != nil {
		x.inStore(ctx, d)
		if err := d.close(); err != nil {
			x.fail("store", err, "")
		}
	}
	x.state(s)
	x.terminal()
}

func (x *examination) configuration(s setup) {
	before := len(x.findings)
	if _, problems := keymap.New(keymap.Overrides(s.keys)); len(problems) > 0 {
		for _, p := range problems {
			x.add("configuration", levelProblem, "mend it in "+s.config, "%s", p.Error())
		}
	}
	if _, err := (theme.Shelf{Dir: s.themes}).Load(s.theme); err != nil {
		x.fail("configuration", err, "name another theme in "+s.config)
	}
	for _, folder := range s.folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			x.add("configuration", levelProblem, "make it, or take it out of workflows in "+s.config, "the folder of workflows %s is not there", folder)
		}
	}
	for _, h := range s.configured.Hooks {
		if _, err := exec.LookPath(h.Run[0]); err != nil {
			x.add("configuration", levelProblem, "install it, or take the hook out of "+s.config, "the program of hook %s cannot be run: %v", h.Name, err)
		}
	}
	if len(x.findings) > before {
		return
	}
	if _, err := os.Stat(s.config); errors.Is(err, fs.ErrNotExist) {
		x.ok("configuration", "no file at %s: defaults hold", s.config)
		return
	}
	text := s.config
	for _, n := range []struct {
		count int
		what  string
	}{{len(s.rules), "rule"}, {len(s.hooks), "hook"}, {len(s.views), "view"}} {
		if n.count > 0 {
			text += ", " + plural(int64(n.count), n.what)
		}
	}
	x.ok("configuration", "%s", text)
}

// open opens the store; nil when there is none, or it cannot be opened.
func (x *examination) open(ctx context.Context, s setup) *opened {
	quiet := x.flags.quiet
	x.flags.quiet = true // what opening warns of is among the findings
	defer func() { x.flags.quiet = quiet }()
	d, err := x.openWith(ctx, s, openStored)
	var absent *checkpoint.AbsentError
	if errors.As(err, &absent) {
		x.ok("store", "none yet at %s; the first run makes it", absent.Store)
		return nil
	}
	if err != nil {
		x.fail("store", err, strings.TrimPrefix(strings.TrimPrefix(desk.Explain(err), err.Error()), "; "))
		return nil
	}
	return d
}

// state looks at the folder of drafts, outbox and log.
func (x *examination) state(s setup) {
	info, err := os.Stat(s.state)
	if err != nil {
		return
	}
	before := len(x.findings)
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		x.add("drafts", levelProblem, "chmod 700 "+s.state, "%s, with drafts and log, has mode %#o: others than its owner may use it", s.state, mode)
	}
	broken, err := filepath.Glob(filepath.Join(s.state, "*", "*.broken"))
	if err == nil {
		for _, name := range broken {
			x.add("drafts", levelProblem, "read it, then delete it", "an outbox could not be read and was put aside: %s", name)
		}
	}
	if len(x.findings) == before {
		x.ok("drafts", "%s", s.state)
	}
}

// terminal tells what the desk finds of the terminal.
func (x *examination) terminal() {
	var facts []string
	for _, name := range []string{"TERM", "COLORTERM", "NO_COLOR", "TMUX", "SSH_CONNECTION"} {
		if value := x.getenv(name); value != "" {
			if name == "TMUX" || name == "SSH_CONNECTION" {
				value = "yes"
			}
			facts = append(facts, name+" "+value)
		}
	}
	if x.width > 0 {
		facts = append(facts, fmt.Sprintf("%d columns", x.width))
	}
	text := strings.Join(facts, ", ")
	switch {
	case !x.interactive():
		x.add("terminal", levelNote, "use `hitl-tui threads` and `hitl-tui resume` here", "none on which the desk can be drawn (%s)", text)
	case !unicodeLocale(x.getenv):
		x.add("terminal", levelNote, "set LANG to a UTF-8 locale, such as C.UTF-8, or HITL_TUI_ASCII=0",
			"the locale is not UTF-8, so the desk is drawn in ASCII (%s)", text)
	default:
		x.ok("terminal", "%s", text)
	}
}

// tell prints what was found.
func (x *examination) tell() error {
	healthy := true
	for _, f := range x.findings {
		healthy = healthy && f.Level != levelProblem
	}
	if x.flags.json {
		if err := x.printJSON(wire.Doctor{Healthy: healthy, Findings: x.findings, Store: x.store}); err != nil {
			return err
		}
	} else {
		t := table{head: []string{"CHECK", "", "WHAT", "WHAT TO DO"}, grow: 2}
		for _, f := range x.findings {
			remedy := ""
			if f.Remedy != nil {
				remedy = *f.Remedy
			}
			t.add(f.Check, f.Level, f.Text, remedy)
		}
		x.printTable(t)
	}
	if !healthy {
		return &exitError{desk.ExitFailed}
	}
	return nil
}

// prunableAfter is what is counted as prunable where no retention is configured.
var prunableAfter = desk.Retention{OlderThan: 30 * 24 * time.Hour, FinishedBefore: 90 * 24 * time.Hour}
