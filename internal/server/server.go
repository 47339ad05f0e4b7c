// Package server is the HTTP face of the desk: it reads requests, asks the use cases of package desk, and writes the JSON of
// package wire. It decides who may ask for what, bounds what it reads and how long it waits, and keeps an accepted answer
// going when its client has left. It holds no threads and repeats no use case.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/redact"
)

// Options configure a Server. Zero fields get working defaults.
type Options struct {
	WriteToken string // lets do and read everything; "" nobody may write
	ReadToken  string // lets read, secrets masked; "" there is none
	Redact     redact.Rules
	Version    string       // of the program
	Log        *slog.Logger // one line a request; nil: none

	Drain     time.Duration // how long runs may go on once the server is to end: 10 s
	Heartbeat time.Duration // how often a silent stream of events says that it lives: 15 s
	Times     Times
	Events    int // how many events are kept for those who come back: 4096
	Runs      int // how many starts and resumes may run at once: DefaultRuns
	Watchers  int // how many streams of events may be open at once: DefaultWatchers

	Now   func() time.Time
	NewID func() string // UUIDv7
}

// What a server does at once where Options say nothing.
const (
	DefaultRuns     = 1000
	DefaultWatchers = 10000
)

// Times bound how long the server waits for a client. Zero fields get working defaults.
type Times struct {
	Header time.Duration // for the head of a request: 10 s
	Body   time.Duration // for head and body: 30 s
	Write  time.Duration // for an answer, or one batch of events, to be taken: 30 s
	Idle   time.Duration // for the next request of a connection: 2 min
}

// Server answers HTTP for one desk.
type Server struct {
	desk    *desk.Desk
	whole   *desk.Masked // as those see it who may write
	masked  *desk.Masked
	o       Options
	guard   guard
	feed    *feed
	runs    *runs
	metrics *metrics
	routes  []route
	wording []phrase
}

// New makes a server of a desk, which stays the caller's to close.
func New(d *desk.Desk, o Options) (*Server, error) {
	o.fill()
	g, err := newGuard(o.WriteToken, o.ReadToken)
	if err != nil {
		return nil, err
	}
	s := &Server{
		desk: d, whole: d.Masked(redact.Off()), masked: d.Masked(o.Redact), o: o, guard: g,
		feed: newFeed(o.NewID(), o.Events), runs: newRuns(o.Runs), routes: routes(), wording: wording(),
	}
	s.metrics = newMetrics(s)
	return s, nil
}

func (o *Options) fill() {
	positive := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	positive(&o.Drain, 10*time.Second)
	positive(&o.Heartbeat, 15*time.Second)
	positive(&o.Times.Header, 10*time.Second)
	positive(&o.Times.Body, 30*time.Second)
	positive(&o.Times.Write, 30*time.Second)
	positive(&o.Times.Idle, 2*time.Minute)
	if o.Events <= 0 {
		o.Events = 4096
	}
	if o.Runs <= 0 {
		o.Runs = DefaultRuns
	}
	if o.Watchers <= 0 {
		o.Watchers = DefaultWatchers
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
}

// Serve answers on a listener until ctx ends, and then shuts down: nothing new is begun, streams of events end, and what runs
// gets Options.Drain to come to rest. What does not is interrupted; its threads are then stalled, their answers kept. The
// listener is closed.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	s.guard.loopback = isLoopback(listener.Addr())
	watch, stopWatching := context.WithCancel(context.Background())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for batch := range s.desk.Subscribe(watch) {
			s.feed.publish(batch)
		}
	}()
	defer func() { stopWatching(); <-watched }()

	web := &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: s.o.Times.Header, ReadTimeout: s.o.Times.Body, WriteTimeout: s.o.Times.Write,
		IdleTimeout: s.o.Times.Idle, MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	select {
	case err := <-failed:
		s.feed.close()
		s.runs.drain(0)
		return errors.Join(err, web.Close())
	case <-ctx.Done():
	}
	return s.shutDown(web, failed)
}

func (s *Server) shutDown(web *http.Server, failed <-chan error) error {
	s.feed.close()
	// Answers are still written after the last run has come to rest.
	ctx, cancel := context.WithTimeout(context.Background(), s.o.Drain+s.o.Times.Write)
	defer cancel()
	shut := make(chan error, 1)
	s.runs.refuse()
	go func() { shut <- web.Shutdown(ctx) }()
	s.runs.drain(s.o.Drain)
	err := <-shut
	if err != nil {
		err = errors.Join(err, web.Close())
	}
	if e := <-failed; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}
