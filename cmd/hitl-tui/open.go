package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
	"github.com/hitl-tui/hitl-tui/internal/config"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/llm"
	"github.com/hitl-tui/hitl-tui/internal/redact"
	"github.com/hitl-tui/hitl-tui/internal/ui"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// purpose says what a command wants of the store.
type purpose int

const (
	openWrite    purpose = iota // a new store is made where there is none
	openExisting                // it changes threads, so without a store there is nothing to change
	openRead                    // it only looks, and there is nothing to see without a store
	openStored                  // it vouches for what is in the store, so there must be one
)

// setup is the configuration of one invocation, from flags, environment, file and defaults.
type setup struct {
	store     string
	state     string // folder of drafts, outbox and log
	workflows []string
	folders   []string // those of workflows that are configured
	reviewer  string
	screen
	redact     redact.Rules
	retention  config.Retention
	grace      time.Duration
	models     map[string]llm.Model
	rules      []desk.Rule
	hooks      []desk.Hook
	config     string                   // the configuration file
	configured *config.Config           // what it says
	from       map[string]config.Origin // of the settings that can come from several places
	piped      *string                  // standard input, where that is a workflow file
}

// screen is how the desk is drawn and handled.
type screen struct {
	theme  string
	keys   config.Keys
	views  []ui.View
	themes string // folder of the user's themes
	still  bool   // nothing counts down or moves by itself
	ascii  bool   // nothing else is drawn
	is     config.Screen
}

// files reads workflow files for this invocation.
func (s setup) files(env config.Env) workflow.Library {
	return workflow.Library{
		Folders:  s.workflows,
		Services: workflow.Services{Models: s.models, ModelsIn: s.config, Getenv: env},
		Piped:    s.piped,
	}
}

// setupFor is setup for a command that reads workflow files: one that is called "-" is read from standard input.
func (a *app) setupFor(refs ...string) (setup, error) {
	s, err := a.setup()
	if err != nil || !slices.ContainsFunc(refs, isPiped) {
		return s, err
	}
	text, err := a.read(workflow.Stdin, inputLimit)
	if err != nil {
		return s, err
	}
	piped := string(text)
	s.piped = &piped
	return s, nil
}

// isPiped reports whether a reference to a workflow means standard input, or a graph in it.
func isPiped(ref string) bool {
	file, _, _ := strings.Cut(ref, "::")
	return file == workflow.Stdin
}

// opened is a desk with what has to be closed after it.
type opened struct {
	*desk.Masked
	setup  setup
	source *local.Source
	store  checkpoint.Store
	log    *os.File
	logger *slog.Logger
}

// setup finds out what this invocation works with.
func (a *app) setup() (setup, error) {
	usage := func(err error) (setup, error) {
		return setup{}, &desk.Error{Code: desk.CodeUsage, Message: err.Error(), Err: err}
	}
	env := config.Env(a.lookup)
	paths, err := config.FindPaths(env)
	if err != nil {
		return usage(err)
	}
	file, origin := config.Resolve(env, config.Setting{Flag: a.flags.config, EnvName: "HITL_TUI_CONFIG", Default: paths.ConfigFile()})
	c, err := config.Load(file, paths.Home, origin != config.FromDefault)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return setup{}, missingFile(file, err)
	case err != nil:
		return usage(err)
	}
	s := setup{state: paths.State, screen: screen{themes: paths.Themes(), keys: c.Keys, is: c.Screen}, workflows: c.Workflows, folders: c.Workflows,
		models: c.Models, config: file, redact: c.Redact, retention: c.Retention, configured: c}
	a.redact = c.Redact
	if s.views, err = viewsOf(c); err != nil {
		return usage(err)
	}
	if s.rules, err = rulesOf(c); err != nil {
		return usage(err)
	}
	if s.hooks, err = a.hooksOf(c); err != nil {
		return usage(err)
	}
	if len(s.workflows) == 0 {
		s.workflows = []string{paths.Workflows()}
	}
	s.from = map[string]config.Origin{"config": origin}
	s.store, s.from["store"] = config.Resolve(env, config.Setting{Flag: a.flags.store, EnvName: "HITL_TUI_STORE", File: c.Store, Default: paths.Store()})
	a.store = s.store
	s.reviewer, s.from["reviewer"] = config.Resolve(env, config.Setting{Flag: a.flags.reviewer, EnvName: "HITL_TUI_REVIEWER", File: c.Reviewer})
	s.theme, s.from["theme"] = config.Resolve(env, config.Setting{EnvName: "HITL_TUI_THEME", File: c.Theme, Default: "default"})
	s.still, s.from["reduced_motion"], err = config.ResolveSwitch(env, config.Switch{EnvName: "HITL_TUI_REDUCED_MOTION", File: c.Screen.ReducedMotion})
	if err != nil {
		return usage(err)
	}
	s.ascii, s.from["ascii"], err = config.ResolveSwitch(env, config.Switch{EnvName: "HITL_TUI_ASCII", File: c.Screen.ASCII, Default: !unicodeLocale(a.getenv)})
	if err != nil {
		return usage(err)
	}
	if c.Grace != nil {
		s.grace = *c.Grace
		if s.grace == 0 {
			s.grace = -1
		}
	}
	return s, nil
}

// open opens the desk this invocation works with.
func (a *app) open(ctx context.Context, why purpose) (*opened, error) {
	s, err := a.setup()
	if err != nil {
		return nil, err
	}
	return a.openWith(ctx, s, why)
}

func (a *app) openWith(ctx context.Context, s setup, why purpose) (*opened, error) {
	if s.reviewer == "" {
		user, err := config.SystemUser(a.lookup)
		if err != nil {
			return nil, &desk.Error{Code: desk.CodeUsage, Message: err.Error(), Remedy: "give --reviewer NAME"}
		}
		s.reviewer = user
	}
	if err := a.private(s.state); err != nil {
		return nil, err
	}
	creates := why == openWrite && !a.flags.readOnly
	engineOptions, storeOptions := engine.Options{Holder: holder()}, open.Options{ReadOnly: a.flags.readOnly, Existing: !creates}
	if err := a.forTests(&engineOptions, &storeOptions); err != nil {
		return nil, &desk.Error{Code: desk.CodeUsage, Message: err.Error(), Err: err}
	}
	store, err := openStore(ctx, s.store, storeOptions, why)
	if err != nil {
		return nil, err
	}
	o := &opened{setup: s, store: store}
	// Who looks or answers is not told again and again: the doctor tells it whenever it is asked.
	if w, is := store.(interface{ Warnings() []string }); is && why == openWrite {
		for _, warning := range w.Warnings() {
			a.say("hitl-tui: %s", warning)
		}
	}
	if err := o.logTo(filepath.Join(s.state, "log")); err != nil {
		return nil, errors.Join(err, o.close())
	}
	engineOptions.Graphs = &workflow.Graphs{Library: s.files(a.lookup)}
	o.source = local.New(store, engineOptions)
	o.source.OpenBackup = open.Backup
	d, err := desk.New(o.source, desk.Options{
		StateDir: s.state, Reviewer: s.reviewer, ReadOnly: a.flags.readOnly, Workflows: s.workflows, Grace: s.grace, Log: o.logger,
		Retention: s.deskRetention(), Rules: s.rules, Hooks: s.hooks,
	})
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	o.Masked = d.Masked(a.shown(s))
	return o, nil
}

// openStore opens a store, or an empty one in its place where there is none and nothing to look at or to change: looking must
// not make a store.
func openStore(ctx context.Context, url string, o open.Options, why purpose) (checkpoint.Store, error) {
	if path, local := open.Path(url); local && !o.Existing {
		// The store itself tells when others can read the folder.
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, &desk.Error{Code: desk.CodeStoreUnavailable, Message: err.Error(), Err: err}
		}
	}
	store, err := open.Open(ctx, url, o)
	var absent *checkpoint.AbsentError
	switch {
	case err == nil:
		return store, nil
	case errors.As(err, &absent) && why == openStored:
		return nil, &desk.Error{Code: desk.CodeStoreUnavailable, Message: err.Error(), Remedy: "check --store", Err: err}
	case errors.As(err, &absent):
		return open.Open(ctx, "memory:", open.Options{})
	default:
		return nil, unusable(err)
	}
}

// shown are the rules by which what is printed is masked. What programs read with --json is whole, so that they can
// answer with it, unless they may only read.
func (a *app) shown(s setup) redact.Rules {
	if a.flags.json && !a.flags.readOnly {
		return redact.Off()
	}
	return s.redact
}

// unusable is why a store cannot be opened: it has a code of its own, or it just cannot be used.
func unusable(err error) error {
	coded := local.Coded(err)
	if desk.Code(coded) != desk.CodeInternal {
		return coded
	}
	return &desk.Error{Code: desk.CodeStoreUnavailable, Message: err.Error(), Err: err}
}

// private makes a folder its owner's alone; one that others can read is told and used.
func (a *app) private(dir string) error {
	err := config.MakePrivate(dir)
	var loose *config.LooseError
	if errors.As(err, &loose) {
		a.say("hitl-tui: %v", loose)
		return nil
	}
	if err != nil {
		return &desk.Error{Code: desk.CodeStoreUnavailable, Message: err.Error(), Err: err}
	}
	return nil
}

// logTo opens the log: a terminal program never logs to the terminal it draws on.
func (o *opened) logTo(file string) error {
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return &desk.Error{Code: desk.CodeStoreUnavailable, Message: err.Error(), Err: err}
	}
	o.log, o.logger = log, slog.New(o.setup.redact.Handler(slog.NewTextHandler(log, nil)))
	return nil
}

// close closes what was opened, the desk first. What runs gets a moment to come to rest.
func (o *opened) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if o.Masked != nil {
		errs = append(errs, o.Desk.Close(ctx))
	}
	if o.source != nil {
		errs = append(errs, o.source.Close(ctx))
	}
	if o.store != nil {
		errs = append(errs, o.store.Close())
	}
	if o.log != nil {
		errs = append(errs, o.log.Close())
	}
	return errors.Join(errs...)
}

// lookup reads the environment.
func (m *machine) lookup(name string) (string, bool) {
	value := m.getenv(name)
	return value, value != ""
}

// interactive reports whether the desk can be drawn here.
func (a *app) interactive() bool {
	return a.inTTY && a.outTTY && a.getenv("TERM") != "dumb"
}

// holder names this process to whoever finds a thread running.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}
