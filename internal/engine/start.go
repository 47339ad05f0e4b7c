package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Start runs a new thread until it ends, waits, fails or ctx ends.
func (e *Engine) Start(ctx context.Context, r StartRequest) (*Outcome, error) {
	g, err := e.graphFor(ctx, r.Graph, r.Definition)
	if err != nil {
		return nil, err
	}
	if r.Thread == "" {
		r.Thread = e.o.NewID()
	}
	if err := actions.CheckThreadID(r.Thread); err != nil {
		return nil, err
	}
	t, err := newTree(r.Thread, g, &e.o)
	if err != nil {
		return nil, err
	}
	s := &session{engine: e, tree: t, workflow: g.Name, fingerprint: r.Definition.Fingerprint, workdir: r.Workdir, source: checkpoint.SourceInput}
	s.head.Step = -1
	if e.store != nil {
		t.journal = &journal{}
	}
	t.source = r.Definition.Source
	if err := t.enter(r.Input); err != nil {
		return nil, err
	}
	if err := s.create(ctx, r); err != nil {
		return nil, err
	}
	return s.run(ctx)
}

// graphFor is the graph of a definition: the one given, else what Options.Graphs makes of it.
func (e *Engine) graphFor(ctx context.Context, g *Graph, d checkpoint.Definition) (*Graph, error) {
	if g != nil {
		return g, nil
	}
	if e.o.Graphs == nil {
		return nil, errors.New("engine: neither a graph nor Options.Graphs to make one")
	}
	g, err := e.o.Graphs.Graph(ctx, d)
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", d.Workflow, err)
	}
	return g, nil
}

// enter puts the input into the state and triggers the start nodes.
func (t *tree) enter(input map[string]json.RawMessage) error {
	t.begin(t.now())
	t.record()
	f := t.root
	all := make(map[string]Value, len(input))
	for _, key := range sortedKeys(input) {
		if key == "" || strings.HasPrefix(key, "@") {
			return fmt.Errorf("%q cannot be a state key", key)
		}
		v, err := ValueOf(input[key])
		if err != nil {
			return fmt.Errorf("input %q: %w", key, err)
		}
		all[key] = v
		f.set(key, v)
	}
	f.begin(object(all))
	t.close()
	return nil
}

// create writes step 0, which makes the thread and takes its lease.
func (s *session) create(ctx context.Context, r StartRequest) error {
	e, t := s.engine, s.tree
	if e.store == nil {
		s.head.Step, s.source = 0, checkpoint.SourceStep
		s.began(checkpoint.SourceInput, nil)
		return nil
	}
	if err := e.durably(ctx, func() error { return e.store.PutDefinition(ctx, r.Definition) }); err != nil {
		return fmt.Errorf("keeping the definition of %s: %w", s.workflow, err)
	}
	s.lease = e.o.NewID()
	c := s.compose(ctx, len(t.ready) == 0)
	c.NewLease = &checkpoint.LeaseRequest{Thread: t.thread, Token: s.lease, Holder: e.o.Holder, TTL: e.o.LeaseTTL}
	c.NewThread = &checkpoint.NewThread{Workdir: r.Workdir, StartedBy: r.By}
	version, err := e.commit(ctx, c)
	if err != nil {
		return fmt.Errorf("starting thread %s: %w", t.thread, err)
	}
	s.began(checkpoint.SourceInput, nil)
	s.committed(version, c.Release)
	return nil
}
