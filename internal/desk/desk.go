// Package desk holds the use cases of the review desk, one method each: list, open, respond, take back, history,
// fork, prune, audit, claim. The terminal screen, the command line and HTTP are three faces of this one package and
// repeat none of it.
//
// It sees threads through the small Source interface of its own and knows no concrete store. It draws nothing.
package desk

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Options configure a Desk. Zero fields get working defaults.
type Options struct {
	// StateDir keeps outbox and drafts, in a folder of their own for each store. "" keeps them in memory only.
	StateDir string
	// Reviewer decides here; "" is the system's user.
	Reviewer string
	// ReadOnly refuses whatever decides or destroys.
	ReadOnly bool
	// Workflows are the folders whose files can be started.
	Workflows []string
	// Grace is how long a decision can be taken back: 5 s; negative is none.
	Grace time.Duration
	// Runners is how many resumes run at once: 8.
	Runners int
	// Retention is what KeepRetention prunes; zero is nothing.
	Retention Retention
	// Rules answer by themselves, and Hooks run when a question appears, while Attend runs.
	Rules []Rule
	Hooks []Hook
	// Secret tells which questions are answered with a credential, which is then never written to disk: those that say
	// so themselves (actions.Question.IsSecret).
	Secret func(Question) bool
	// Now and AfterFunc are the clock. AfterFunc calls f once after d and returns what stops it.
	Now       func() time.Time
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
	NewID     func() string // UUIDv7
	Log       *slog.Logger
}

// Desk is the one object behind every face. Its methods are safe for concurrent use.
type Desk struct {
	source Source
	o      Options
	files  *files
	hub    *hub

	ctx    context.Context // ends with the desk
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // goroutines that end with ctx
	watch  sync.Once
	attend chan struct{} // wakes Attend

	courtesies courtesies

	mu     sync.Mutex
	outbox outbox
	runs   runs
	rules  rulebook
	last   Retained // by the retention
	closed bool
}

// New makes a desk over source. What a former desk left unsent in its outbox comes back as drafts marked not sent;
// nothing is sent by itself.
func New(source Source, o Options) (*Desk, error) {
	if source == nil {
		return nil, errors.New("desk: no source")
	}
	o.fill()
	if err := errors.Join(CheckReviewer(o.Reviewer), checkRules(o.Rules)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	d := &Desk{source: source, o: o, ctx: ctx, cancel: cancel}
	d.hub = newHub(o.Now, o.AfterFunc)
	d.runs, d.rules, d.attend = newRuns(), newRulebook(o.Rules), make(chan struct{}, 1)
	d.courtesies.of = map[string]*courtesy{}
	err := d.openFiles()
	if err == nil {
		err = d.recover()
	}
	if err != nil {
		cancel(ErrClosed)
		return nil, err
	}
	if observable, ok := source.(Observable); ok {
		observable.Observe(d.hub.publish)
	}
	return d, nil
}

// openFiles finds the folder of the store's drafts and outbox.
func (d *Desk) openFiles() error {
	d.files = &files{}
	if d.o.StateDir == "" {
		return nil
	}
	if named, ok := d.source.(Named); ok {
		d.files = newFiles(d.o.StateDir, named.URL())
		return nil
	}
	info, err := d.source.Info(d.ctx)
	if err == nil {
		d.files = newFiles(d.o.StateDir, info.URL)
	}
	return err
}

func (o *Options) fill() {
	if o.Reviewer == "" {
		o.Reviewer = systemUser()
	}
	switch {
	case o.Grace == 0:
		o.Grace = 5 * time.Second
	case o.Grace < 0:
		o.Grace = 0
	}
	if o.Runners <= 0 {
		o.Runners = 8
	}
	if o.Secret == nil {
		o.Secret = func(q Question) bool { return q.IsSecret() }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AfterFunc == nil {
		o.AfterFunc = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func systemUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return "unknown"
}

// Reviewer is who decides here.
func (d *Desk) Reviewer() string { return d.o.Reviewer }

// ReadOnly reports whether the desk refuses what decides or destroys.
func (d *Desk) ReadOnly() bool { return d.o.ReadOnly }

// Busy counts entries of people that are unsent, and runs in progress, for the question asked at quitting.
func (d *Desk) Busy() (unsent, running int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.outbox.waiting("") {
		if !e.byRule() { // nobody waits for those, and the next desk looks at their questions anew
			unsent++
		}
	}
	return unsent, d.runs.count()
}

// Subscribe yields what happens in batches until ctx ends or the desk closes; a slow reader loses progress lines,
// never the last StoreChanged, OutboxChanged, Rested or RunFailed of a thread.
func (d *Desk) Subscribe(ctx context.Context) <-chan []Event {
	events := d.hub.subscribe(ctx, d.ctx)
	// After it, so that the first subscriber hears that the watch began.
	d.mu.Lock()
	defer d.mu.Unlock()
	d.startWatch()
	return events
}

// Close ends the desk: unsent entries become drafts marked not sent; running threads get until ctx ends to come to
// rest and are then interrupted, their answers kept. The source stays open.
func (d *Desk) Close(ctx context.Context) error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	d.outbox.disarm()
	err := d.draftWaiting(append(d.runs.dropQueued(), d.outbox.waiting("")...))
	d.mu.Unlock()

	rested := make(chan struct{})
	go func() { d.runs.wait(); close(rested) }()
	select {
	case <-rested:
	case <-ctx.Done():
		d.mu.Lock()
		d.runs.cancelAll(ErrShutdown)
		d.mu.Unlock()
		<-rested
	}
	d.cancel(ErrClosed)
	d.tasks.Wait()
	d.hub.close()
	return errors.Join(err, d.files.close())
}
