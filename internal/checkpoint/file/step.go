package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// step is the file of one step: its record, and its state as a keyframe or as the operations on the state of the step
// before it.
type step struct {
	checkpoint.Checkpoint
	commit   string // id of the commit that wrote it, "" for a put
	write    int64  // number of the head that made it count: it tells one content of a step from another
	keyframe bool
	parent   link            // the step before it, unless it is a keyframe
	ops      []checkpoint.Op // unless it is a keyframe; else the state is in Channels
	size     int64           // bytes of the file
}

// link names a step with its content, however that is represented.
type link struct {
	Step  int64 `json:"step"`
	Write int64 `json:"write"`
}

// stepPage is the file, without what is JSON from outside.
type stepPage struct {
	Thread      text                 `json:"thread"`
	Step        int64                `json:"step"`
	Revision    int64                `json:"revision"`
	TS          time.Time            `json:"ts"`
	Source      checkpoint.Source    `json:"source,omitempty"`
	Ended       checkpoint.Status    `json:"ended,omitempty"`
	Workflow    string               `json:"workflow,omitempty"`
	Fingerprint string               `json:"fingerprint,omitempty"`
	Commit      string               `json:"commit,omitempty"`
	Next        []string             `json:"next,omitempty"`
	Open        int                  `json:"open,omitempty"`
	Decisions   []string             `json:"decisions,omitempty"`
	Error       *checkpoint.Failure  `json:"error,omitempty"`
	Origin      *checkpoint.Origin   `json:"origin,omitempty"`
	Runs        []checkpoint.NodeRun `json:"runs,omitempty"`
	Shown       *summary             `json:"shown,omitempty"`
	Keyframe    bool                 `json:"keyframe"`
	Write       int64                `json:"write"`
	Parent      link                 `json:"parent,omitzero"`
}

// stepFile is the file as it is read.
type stepFile struct {
	stepPage
	Outputs    foreign            `json:"outputs"`
	Interrupts []json.RawMessage  `json:"interrupts"`
	State      map[string]foreign `json:"state"`
	Others     []opLine           `json:"state_others"` // channels whose names can be no keys
	Ops        []opLine           `json:"ops"`
}

type opLine struct {
	Op      string  `json:"op,omitempty"`
	Channel text    `json:"channel"`
	Value   foreign `json:"value,omitempty"`
}

var opNames = map[checkpoint.OpKind]string{
	checkpoint.OpSet: "set", checkpoint.OpAppend: "append", checkpoint.OpMerge: "merge", checkpoint.OpDelete: "delete",
}

// encode gives the bytes of the file, and how many of them hold the state.
func (p *step) encode() (file []byte, state int, err error) {
	c := &p.Checkpoint
	page := stepPage{Thread: text(c.Thread), Step: c.Step, Revision: c.Revision, TS: checkpoint.Micro(c.TS), Source: c.Source, Ended: c.Ended,
		Workflow: c.Workflow, Fingerprint: c.Fingerprint, Commit: p.commit, Next: c.Next, Open: c.Open, Decisions: c.Decisions, Error: c.Error,
		Origin: c.Origin, Runs: c.Runs, Shown: (*summary)(c.Shown), Write: p.write, Keyframe: p.keyframe, Parent: p.parent}
	o, err := verbatim.PageOf(&page)
	if err != nil {
		return nil, 0, fmt.Errorf("thread %s, step %d: %w", c.Thread, c.Step, err)
	}
	if len(c.Outputs) > 0 {
		o.JSON("outputs", c.Outputs)
	}
	if len(c.Interrupts) > 0 {
		lines := make([][]byte, len(c.Interrupts))
		for i := range c.Interrupts {
			if lines[i], err = c.Interrupts[i].Encode(); err != nil {
				return nil, 0, fmt.Errorf("thread %s, step %d, question %s: %w", c.Thread, c.Step, c.Interrupts[i].ID, err)
			}
		}
		o.List("interrupts", lines)
	}
	before := len(o.B)
	if p.keyframe {
		addState(o, c.Channels)
	} else {
		addOps(o, p.ops)
	}
	state = len(o.B) - before
	return o.Seal(), state, nil
}

// inside adds a field to a small object.
func inside(b []byte, name string, value []byte) []byte {
	o := verbatim.Object{B: b, Line: true}
	o.Raw(name, value)
	return o.B
}

// addState writes a whole state, by name.
func addState(o *verbatim.Object, c checkpoint.Channels) {
	var lines, others [][]byte
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !utf8.ValidString(name) {
			others = append(others, opBytes("", name, c[name]))
			continue
		}
		key, _ := verbatim.Marshal(name, "") // a string always marshals
		lines = append(lines, verbatim.Append(append(key, ": "...), c[name], false))
	}
	o.Raw("state", verbatim.Block('{', lines, '}'))
	if len(others) > 0 {
		o.List("state_others", others)
	}
}

func addOps(o *verbatim.Object, ops []checkpoint.Op) {
	lines := make([][]byte, len(ops))
	for i := range ops {
		lines[i] = opBytes(opNames[ops[i].Kind], ops[i].Channel, ops[i].Value)
	}
	o.List("ops", lines)
}

func opBytes(kind, channel string, value []byte) []byte {
	b, _ := verbatim.Marshal(opLine{Op: kind, Channel: text(channel)}, "") // strings always marshal
	if kind == opNames[checkpoint.OpDelete] {
		return b
	}
	return inside(b, "value", verbatim.Append(nil, value, false))
}

func decodeStep(b []byte) (*step, error) {
	var f stepFile
	if err := verbatim.Open(b, verbatim.PageSeal, &f); err != nil {
		return nil, err
	}
	p := &step{commit: f.Commit, write: f.Write, keyframe: f.Keyframe, parent: f.Parent, size: int64(len(b)),
		Checkpoint: checkpoint.Checkpoint{Thread: string(f.Thread), Step: f.Step, Revision: f.Revision, TS: checkpoint.Micro(f.TS),
			Source: f.Source, Ended: f.Ended, Workflow: f.Workflow, Fingerprint: f.Fingerprint, Next: f.Next, Open: f.Open, Runs: f.Runs,
			Decisions: f.Decisions, Error: f.Error, Origin: f.Origin, Outputs: json.RawMessage(f.Outputs), Commit: f.Commit,
			Shown: (*checkpoint.Summary)(f.Shown)}}
	for i := range f.Interrupts {
		q, err := checkpoint.DecodeInterrupt(f.Interrupts[i])
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", i+1, err)
		}
		p.Interrupts = append(p.Interrupts, q)
	}
	if p.keyframe {
		p.Channels = make(checkpoint.Channels, len(f.State))
		for name, value := range f.State {
			p.Channels[name] = json.RawMessage(value)
		}
		for _, l := range f.Others {
			p.Channels[string(l.Channel)] = json.RawMessage(l.Value)
		}
	}
	for name, value := range p.Channels {
		p.SizeBytes += int64(len(name) + len(value))
	}
	for _, l := range f.Ops {
		op, err := l.decode()
		if err != nil {
			return nil, err
		}
		p.ops = append(p.ops, op)
		p.SizeBytes += int64(len(op.Channel) + len(op.Value))
	}
	return p, nil
}

func (l *opLine) decode() (checkpoint.Op, error) {
	for kind, name := range opNames {
		if name == l.Op {
			return checkpoint.Op{Kind: kind, Channel: string(l.Channel), Value: json.RawMessage(l.Value)}, nil
		}
	}
	return checkpoint.Op{}, fmt.Errorf("unknown operation %q", l.Op)
}

// stepName is the name of a step's file.
func stepName(n int64) string { return fmt.Sprintf("%08d.json", n) }

// stepOf is the step a file of that name holds.
func stepOf(name string) (int64, bool) {
	digits, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil && stepName(n) == name
}

var (
	errMissing = errors.New("the file is missing")
	errOther   = errors.New("the step it builds on is another than it was")
)

// readStep reads one step that counts, as it is written.
func (s *Store) readStep(h *head, n int64) (*step, error) {
	thread := h.info.Thread
	file := s.stepFile(thread, n)
	b, err := []byte(nil), error(fs.ErrNotExist)
	if slices.Contains(h.redo.Install, n) {
		b, err = s.disk.Read(file + staged)
	}
	if errors.Is(err, fs.ErrNotExist) {
		b, err = s.disk.Read(file)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &checkpoint.CorruptError{Thread: thread, Step: n, Where: s.relative(file), Err: errMissing}
	}
	if err != nil {
		return nil, s.hurt(thread, n, file, err)
	}
	p, err := decodeStep(b)
	if err == nil && (p.Thread != thread || p.Step != n) {
		err = fmt.Errorf("it holds step %d of thread %s", p.Step, p.Thread)
	}
	if err != nil {
		return nil, s.hurt(thread, n, file, err)
	}
	return p, nil
}
