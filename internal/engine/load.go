package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// The engine channels of a thread as a whole.
const (
	threadChannel = "@thread"
	epochChannel  = "@epoch"
)

// formatVersion is the version of what the engine's channels hold. A newer program reads every older one.
const formatVersion = 1

// threadRecord is what @thread holds, from the first step on.
type threadRecord struct {
	Format  int       `json:"format"`
	Started time.Time `json:"started"`
	Source  string    `json:"source,omitempty"`
}

// load makes the tree of a checkpoint.
func load(c *checkpoint.Checkpoint, g *Graph, o *Options) (*tree, error) {
	t, err := newTree(c.Thread, g, o)
	if err != nil {
		return nil, err
	}
	l := loader{tree: t, checkpoint: c}
	if err := l.load(); err != nil {
		return nil, &checkpoint.CorruptError{Thread: c.Thread, Step: c.Step, Where: "engine channels", Err: err}
	}
	t.ended, t.outputs, t.journal = c.Ended, RawValue(c.Outputs), &journal{}
	return t, nil
}

// loader reads channels into a tree. While it works the tree has no journal, so that what is read is not written.
type loader struct {
	tree       *tree
	checkpoint *checkpoint.Checkpoint
}

func (l *loader) load() error {
	var rec threadRecord
	if err := json.Unmarshal(l.checkpoint.Channels[threadChannel], &rec); err != nil {
		return fmt.Errorf("%s: %w", threadChannel, err)
	}
	if rec.Format > formatVersion {
		return fmt.Errorf("%s: format %d is newer than this program's %d", threadChannel, rec.Format, formatVersion)
	}
	l.tree.source = rec.Source
	l.tree.begin(rec.Started)
	if raw := l.checkpoint.Channels[epochChannel]; raw != nil {
		if err := json.Unmarshal(raw, &l.tree.epoch); err != nil {
			return fmt.Errorf("%s: %w", epochChannel, err)
		}
	}
	f := l.tree.root
	for name, raw := range l.checkpoint.Channels {
		if name == "" || name[0] != '@' {
			f.state[name] = RawValue(raw)
			continue
		}
		if err := l.engineChannel(f, name, raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	f.answersValue, f.errorsValue = object(f.answers), object(f.errors)
	for i := range f.arrivals {
		if f.arrivals[i] != nil {
			f.joining = append(f.joining, i)
		}
	}
	return l.asks()
}

// engineChannel reads one channel of the engine: @KIND:FRAME, with :NODE where there is one a node.
func (l *loader) engineChannel(f *frame, name string, raw json.RawMessage) error {
	if strings.HasPrefix(name, runChannel) {
		return l.run(f, raw)
	}
	kind, rest, _ := strings.Cut(strings.TrimPrefix(name, "@"), ":"+f.path)
	node := strings.TrimPrefix(rest, ":")
	switch kind {
	case "counts":
		return l.counts(f, raw)
	case "answers":
		return json.Unmarshal(raw, &f.answers)
	case "errors":
		return json.Unmarshal(raw, &f.errors)
	case "links":
		return json.Unmarshal(raw, &f.links)
	case "buffer":
		i, err := f.node(node)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &f.buffers[i]); err != nil {
			return err
		}
		f.buffered += len(f.buffers[i])
		return nil
	case "arrivals":
		i, err := f.node(node)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, &f.arrivals[i])
	case "thread", "epoch":
		return nil
	}
	return errors.New("unknown engine channel")
}

func (f *frame) node(name string) (int, error) {
	i, ok := f.plan.index[name]
	if !ok {
		return 0, fmt.Errorf("%w: there is no node %q", ErrWorkflowChanged, name)
	}
	return i, nil
}

func (l *loader) counts(f *frame, raw json.RawMessage) error {
	var counts map[string]int
	if err := json.Unmarshal(raw, &counts); err != nil {
		return err
	}
	for name, n := range counts {
		if i, ok := f.plan.index[name]; ok { // one that an upgrade dropped counts for nothing
			f.counts[i] = n
		}
	}
	return nil
}

func (l *loader) run(f *frame, raw json.RawMessage) error {
	var rec runRecord
	if err := json.Unmarshal(raw, &rec); err != nil {
		return err
	}
	i, err := f.node(rec.Node)
	if err != nil {
		return err
	}
	r := &run{
		frame: f, index: i, node: f.plan.nodes[i].Node, n: rec.N, path: fmt.Sprintf("%s/%s@%d", f.path, rec.Node, rec.N),
		status: rec.Status, input: RawValue(rec.Input), epoch: rec.Epoch, failures: rec.Failures, since: rec.Since,
		wake: rec.Wake, failure: rec.Failure, output: RawValue(rec.Output), route: rec.Route, updates: rec.Updates,
		given: rec.Given, settled: rec.Settled, refused: rec.Refused, noWrite: rec.NoWrite, barrier: rec.Barrier, stored: true,
	}
	f.add(r)
	if r.status == ready {
		l.tree.ready = append(l.tree.ready, r)
	}
	return nil
}

// asks joins the checkpoint's open questions to the runs that asked them.
func (l *loader) asks() error {
	byPath := map[string]*run{}
	for r := range l.tree.runs {
		byPath[r.path] = r
	}
	for _, x := range l.checkpoint.Interrupts {
		r := byPath[x.Path]
		if r == nil {
			return fmt.Errorf("question %s: no run %s", x.ID, x.Path)
		}
		a := &ask{Interrupt: x, run: r}
		r.asks = append(r.asks, a)
		l.tree.asks = append(l.tree.asks, a)
	}
	return nil
}
