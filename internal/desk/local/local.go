// Package local is the first source of threads for the desk: our engine over our store, and workflow files. It turns
// their types and errors into the desk's. It knows no concrete store.
package local

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// Source implements desk.Source and all its optional parts.
type Source struct {
	// OpenBackup opens what Restore reads; without it nothing can be restored. It is set before the source is used.
	OpenBackup OpenBackup

	store  checkpoint.Store // nil: runs that never ask
	engine *engine.Engine
	now    func() time.Time
	files  workflow.Library

	mu      sync.Mutex
	observe func(desk.Event)
	hear    map[string]hearing // by thread, while a call of this source runs it
}

// hearing is what a call waits to be told of its thread.
type hearing struct {
	started  func(thread, workflow string)
	accepted func()
	progress func(desk.Event)
	workflow string
}

var (
	_ desk.Source     = (*Source)(nil)
	_ desk.Named      = (*Source)(nil)
	_ desk.Answerer   = (*Source)(nil)
	_ desk.Starter    = (*Source)(nil)
	_ desk.Library    = (*Source)(nil)
	_ desk.Canceller  = (*Source)(nil)
	_ desk.Claimer    = (*Source)(nil)
	_ desk.Forker     = (*Source)(nil)
	_ desk.Patcher    = (*Source)(nil)
	_ desk.Pruner     = (*Source)(nil)
	_ desk.Auditor    = (*Source)(nil)
	_ desk.Recorder   = (*Source)(nil)
	_ desk.Sweeper    = (*Source)(nil)
	_ desk.Observable = (*Source)(nil)
	_ desk.Mover      = (*Source)(nil)
	_ desk.Grapher    = (*Source)(nil)
)

// New makes a source of a store, which stays the caller's to close. A nil store runs workflows that never ask.
// An Observer given in o hears every event first. Workflow files are read by the library of the Graphs in o, where those
// are of package workflow, and without them by an empty one.
func New(store checkpoint.Store, o engine.Options) *Source {
	s := &Source{store: store, now: o.Now, hear: make(map[string]hearing)}
	if s.now == nil {
		s.now = time.Now
	}
	if o.Graphs == nil {
		o.Graphs = &workflow.Graphs{}
	}
	if graphs, ok := o.Graphs.(*workflow.Graphs); ok {
		s.files = graphs.Library
	}
	o.Observer = &observer{source: s, next: o.Observer}
	s.engine = engine.New(store, o)
	return s
}

// Close waits for what runs; when ctx ends before, the runs are interrupted and their answers kept.
func (s *Source) Close(ctx context.Context) error { return Coded(s.engine.Close(ctx)) }

// kept is the store, or an error that says there is none.
func (s *Source) kept() (checkpoint.Store, error) {
	if s.store == nil {
		return nil, Coded(fmt.Errorf("%w: nothing is kept to look at; name one (--store sqlite:PATH)", engine.ErrNoStore))
	}
	return s.store, nil
}

// Watch wakes after changes, coalesced.
func (s *Source) Watch(ctx context.Context) (<-chan struct{}, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	wake, err := store.Watch(ctx)
	return wake, stored(err)
}

// changesPage is how many changed rows are read at a time.
const changesPage = 500

// Changes tells what changed after a sequence number; below 0 it only gives the present one.
func (s *Source) Changes(ctx context.Context, after int64) (desk.Changes, error) {
	store, err := s.kept()
	if err != nil {
		return desk.Changes{}, err
	}
	if after < 0 {
		page, err := store.Threads(ctx, checkpoint.Query{Sort: checkpoint.SortUpdated, Limit: 1})
		if err != nil || len(page.Threads) == 0 {
			return desk.Changes{}, stored(err)
		}
		return desk.Changes{Seq: page.Threads[0].Seq}, nil
	}
	changes, err := store.Changes(ctx, after, changesPage)
	if err != nil {
		return desk.Changes{}, stored(err)
	}
	return desk.Changes{Threads: s.rows(changes.Threads), Deleted: changes.Deleted, Seq: changes.Seq, More: changes.More}, nil
}

// URL names the store.
func (s *Source) URL() string {
	if s.store == nil {
		return "none:"
	}
	return s.store.URL()
}

// warner is a store that found something at opening which its owner should know, such as a file that others can read.
type warner interface{ Warnings() []string }

// Info describes the store.
func (s *Source) Info(ctx context.Context) (desk.StoreInfo, error) {
	if s.store == nil {
		return desk.StoreInfo{URL: s.URL(), Name: "none"}, nil
	}
	stats, err := s.store.Stats(ctx)
	if err != nil {
		return desk.StoreInfo{}, stored(err)
	}
	url := s.store.URL()
	info := desk.StoreInfo{
		URL: url, Name: baseName(url), Threads: stats.Threads, Checkpoints: stats.Checkpoints, Bytes: stats.Bytes,
		FreeBytes: stats.FreeBytes, LogBytes: stats.WALBytes, Schema: stats.Schema,
	}
	if w, ok := s.store.(warner); ok {
		info.Warnings = w.Warnings()
	}
	return info, nil
}
