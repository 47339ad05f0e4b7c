package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// The engine channels of a thread as a whole.
const (
	threadChannel = "@thread"
	epochChannel  = "@epoch"
)

// formatVersion is the version of what the engine's channels hold. A newer program reads every older one, and writes the
// next step in its own. In the first the questions of a thread were in the records of its steps alone.
const formatVersion = 2

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
	l := loader{
		tree: t, checkpoint: c, channels: map[string][]stored{}, nests: map[string][]stored{}, below: map[string][]stored{},
	}
	if err := l.load(); errors.Is(err, checkpoint.ErrNewerSchema) {
		return nil, fmt.Errorf("thread %s: %w", c.Thread, err)
	} else if err != nil {
		return nil, &checkpoint.CorruptError{Thread: c.Thread, Step: c.Step, Where: "engine channels", Err: err}
	}
	t.ended, t.outputs, t.journal = c.Ended, RawValue(c.Outputs), &journal{}
	if l.format < formatVersion {
		t.record()
	}
	for i, a := range t.asks {
		if !a.stored {
			a.Place = i + 1
			a.touch()
		}
	}
	return t, nil
}

// loader reads channels into a tree. While it works the tree has no journal, so that what is read is not written.
type loader struct {
	tree       *tree
	checkpoint *checkpoint.Checkpoint
	format     int

	channels map[string][]stored // by path of their frame
	nests    map[string][]stored // by path of the run that owns frames
	below    map[string][]stored // records of frames, by path of the run that owns them
}

func (l *loader) load() error {
	var rec threadRecord
	if err := json.Unmarshal(l.checkpoint.Channels[threadChannel], &rec); err != nil {
		return fmt.Errorf("%s: %w", threadChannel, err)
	}
	if rec.Format > formatVersion {
		return fmt.Errorf("%w: its format is %d, this program knows %d; use the newer program", checkpoint.ErrNewerSchema, rec.Format, formatVersion)
	}
	l.format = rec.Format
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
		if name != threadChannel && name != epochChannel && !checkpoint.IsQuestion(name) {
			l.sort(name, raw)
		}
	}
	if err := l.frame(f); err != nil {
		return err
	}
	if err := l.orphan(); err != nil {
		return err
	}
	f.ended = l.checkpoint.Ended
	return l.asks()
}

// orphan is an error for a channel of a frame or a run that is not there.
func (l *loader) orphan() error {
	for _, m := range []map[string][]stored{l.channels, l.nests, l.below} {
		for _, path := range sortedKeys(m) {
			return fmt.Errorf("%s: nothing in the thread owns this channel", m[path][0].name)
		}
	}
	return nil
}

// stored is one channel of the engine: @KIND:PATH, with :NAME where there are several of a kind.
type stored struct {
	name, kind, member string
	raw                json.RawMessage
}

// sort puts a channel with the others of its frame, or of the run that owns frames.
func (l *loader) sort(name string, raw json.RawMessage) {
	kind, rest, _ := strings.Cut(name[1:], ":")
	path, member, _ := strings.Cut(rest, ":")
	switch kind {
	case "run":
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	case "frame":
		owner := path
		if strings.HasSuffix(path, "]") {
			owner = path[:max(strings.LastIndexByte(path, '/'), 0)]
		}
		l.below[owner] = append(l.below[owner], stored{name, kind, member, raw})
	case "entry", "results", "before":
		l.nests[path] = append(l.nests[path], stored{name, kind, member, raw})
		return
	}
	l.channels[path] = append(l.channels[path], stored{name, kind, member, raw})
}

// frame reads the channels of a frame, and then the frames of its runs.
func (l *loader) frame(f *frame) error {
	for _, c := range l.channels[f.path] {
		if err := l.channel(f, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if c.kind != "run" {
			f.home.keep(c.name)
		}
	}
	delete(l.channels, f.path)
	f.answersValue, f.errorsValue = object(f.answers), object(f.errors)
	for i := range f.arrivals {
		if f.arrivals[i] != nil {
			f.joining = append(f.joining, i)
		}
	}
	for _, r := range f.runs {
		if r == nil || r.status != nested {
			continue
		}
		if err := l.nest(r); err != nil {
			return fmt.Errorf("%s: %w", r.path, err)
		}
	}
	return nil
}

// channel reads one channel of a frame.
func (l *loader) channel(f *frame, c stored) error {
	switch c.kind {
	case "run":
		return l.run(f, c.raw)
	case "frame":
		return nil
	case "state":
		f.state[c.member] = RawValue(c.raw)
		return nil
	case "counts":
		return l.counts(f, c.raw)
	case "answers":
		return json.Unmarshal(c.raw, &f.answers)
	case "errors":
		return json.Unmarshal(c.raw, &f.errors)
	case "links":
		return json.Unmarshal(c.raw, &l.tree.links)
	case "buffer":
		i, err := f.node(c.member)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(c.raw, &f.buffers[i]); err != nil {
			return err
		}
		f.buffered += len(f.buffers[i])
		return nil
	case "arrivals":
		i, err := f.node(c.member)
		if err != nil {
			return err
		}
		return json.Unmarshal(c.raw, &f.arrivals[i])
	}
	return errors.New("unknown engine channel")
}

// nest reads the frames of a run.
func (l *loader) nest(r *run) error {
	if !r.node.nests() {
		return fmt.Errorf("%w: node %q has no frames any more", ErrWorkflowChanged, r.node.Name)
	}
	r.open()
	n := r.nest
	for _, c := range l.nests[r.path] {
		n.home.keep(c.name)
		var err error
		switch c.kind {
		case "entry":
			err = n.take(RawValue(c.raw))
		case "results":
			err = json.Unmarshal(c.raw, &n.results)
		default:
			err = json.Unmarshal(c.raw, &n.before)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for _, c := range l.below[r.path] {
		var rec struct{ Item int }
		if err := json.Unmarshal(c.raw, &rec); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		f, err := n.newFrame(rec.Item)
		if err != nil {
			return err
		}
		if n.isMap() && (rec.Item < 0 || rec.Item >= len(n.items)) {
			return fmt.Errorf("there is no item %d", rec.Item)
		}
		n.frames = append(n.frames, f)
	}
	if !n.isMap() && len(n.frames) != 1 {
		return fmt.Errorf("a nested workflow has one frame, not %d", len(n.frames))
	}
	delete(l.nests, r.path)
	delete(l.below, r.path)
	n.begun = len(n.results) + len(n.frames)
	slices.SortFunc(n.frames, func(a, b *frame) int { return a.item - b.item })
	for _, f := range n.frames {
		if err := l.frame(f); err != nil {
			return err
		}
	}
	return nil
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
		input: RawValue(rec.Input), epoch: rec.Epoch, failures: rec.Failures, since: rec.Since,
		wake: rec.Wake, failure: rec.Failure, output: RawValue(rec.Output), route: rec.Route, updates: rec.Updates,
		given: rec.Given, were: rec.Were, feedback: rec.Feedback, discarded: rec.Before, settled: rec.Settled, refused: rec.Refused, ends: rec.Ends, why: rec.Why, noWrite: rec.NoWrite, barrier: rec.Barrier, stored: true,
	}
	f.add(r)
	r.become(rec.Status)
	if r.status == ready {
		r.queue()
	}
	return nil
}

// asks joins the open questions to the runs that asked them.
func (l *loader) asks() error {
	byPath := map[string]*run{}
	for r := range l.tree.runs {
		byPath[r.path] = r
	}
	questions, err := l.checkpoint.Questions()
	if err != nil {
		return err
	}
	for _, x := range questions { // from channels, or all from the record
		r := byPath[x.Path]
		if r == nil {
			return fmt.Errorf("question %s: no run %s", x.ID, x.Path)
		}
		a := &ask{Interrupt: x, run: r}
		_, a.stored = l.checkpoint.Channels[x.Channel()]
		r.asks = append(r.asks, a)
		l.tree.asks = append(l.tree.asks, a)
	}
	return nil
}
