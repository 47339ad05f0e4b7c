package engine

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// journal collects what changed since the last commit, as channel operations whose size is that of the change. A nil
// journal, of an engine without a store, takes notes of nothing.
type journal struct {
	dropped []*home
	changes []change
	runs    []*run
	asks    []*ask
	frames  []*frame // with counts or buffers that changed
	counts  map[*frame]map[int]bool
	buffers map[*frame]map[int]bool
}

// change is a channel operation not yet encoded.
type change struct {
	kind    checkpoint.OpKind
	channel string
	value   Value
	home    *home
}

// home knows the channels of what will be removed one day, a frame or the frames of a node, and with it.
type home struct {
	channels map[string]struct{} // as stored
	gone     bool
}

func (h *home) keep(channel string) {
	if h == nil {
		return
	}
	if h.channels == nil {
		h.channels = map[string]struct{}{}
	}
	h.channels[channel] = struct{}{}
}

// drop has every channel of h deleted, and forgets what was to be written.
func (j *journal) drop(h *home) {
	h.gone = true
	if j != nil && len(h.channels) > 0 {
		j.dropped = append(j.dropped, h)
	}
}

// write notes an operation on a channel of the frame.
func (f *frame) write(kind checkpoint.OpKind, channel string, v Value) {
	f.tree.journal.add(change{kind, channel, v, f.home})
}

// channel names an engine channel of a frame.
func (f *frame) channel(kind string) string { return "@" + kind + ":" + f.path }

// stateChannel names the channel of a state key: the key itself at the root.
func (f *frame) stateChannel(key string) string {
	if f.owner == nil {
		return key
	}
	return "@state:" + f.path + ":" + key
}

func (j *journal) add(c change) {
	if j != nil {
		j.changes = append(j.changes, c)
	}
}

func (j *journal) touched(r *run) {
	if j != nil && !r.dirty {
		r.dirty = true
		j.runs = append(j.runs, r)
	}
}

func (j *journal) asked(a *ask) {
	if j != nil && !a.dirty {
		a.dirty = true
		j.asks = append(j.asks, a)
	}
}

func (j *journal) counted(f *frame, i int) {
	if j != nil {
		j.note(&j.counts, f, i)
	}
}

func (j *journal) bufferChanged(f *frame, i int) {
	if j != nil {
		j.note(&j.buffers, f, i)
	}
}

func (j *journal) note(m *map[*frame]map[int]bool, f *frame, i int) {
	if j.counts[f] == nil && j.buffers[f] == nil {
		j.frames = append(j.frames, f)
	}
	if *m == nil {
		*m = map[*frame]map[int]bool{}
	}
	if (*m)[f] == nil {
		(*m)[f] = map[int]bool{}
	}
	(*m)[f][i] = true
}

// flush encodes what was noted and begins anew.
func (j *journal) flush() []checkpoint.Op {
	ops := make([]checkpoint.Op, 0, len(j.changes)+len(j.runs)+2)
	for _, h := range j.dropped {
		for _, channel := range sortedKeys(h.channels) {
			ops = append(ops, checkpoint.Op{Kind: checkpoint.OpDelete, Channel: channel})
		}
	}
	for _, c := range j.changes {
		if c.home != nil && c.home.gone {
			continue
		}
		op := checkpoint.Op{Kind: c.kind, Channel: c.channel}
		if c.kind != checkpoint.OpDelete {
			op.Value = c.value.JSON()
			c.home.keep(c.channel)
		}
		ops = append(ops, op)
	}
	for _, f := range j.frames {
		if f.home == nil || !f.home.gone {
			ops = j.flushFrame(ops, f)
		}
	}
	for _, r := range j.runs {
		r.dirty = false
		channel := runChannel + r.path
		switch {
		case !r.gone:
			ops = append(ops, checkpoint.Op{Kind: checkpoint.OpSet, Channel: channel, Value: r.encode()})
			r.stored = true
		case r.stored:
			ops = append(ops, checkpoint.Op{Kind: checkpoint.OpDelete, Channel: channel})
		}
	}
	ops = j.flushAsks(ops)
	*j = journal{}
	return ops
}

// flushAsks writes the questions that were asked or changed, after what takes those away that were closed: a run may ask
// again under a key that was answered.
func (j *journal) flushAsks(ops []checkpoint.Op) []checkpoint.Op {
	for _, a := range j.asks {
		if a.dirty = false; a.closed && a.stored {
			ops = append(ops, checkpoint.Op{Kind: checkpoint.OpDelete, Channel: a.Channel()})
		}
	}
	for _, a := range j.asks {
		if a.stored = !a.closed; a.stored {
			value, _ := a.Encode() // of a time beyond JSON there is none, and no store takes that
			ops = append(ops, checkpoint.Op{Kind: checkpoint.OpSet, Channel: a.Channel(), Value: value})
		}
	}
	return ops
}

func (j *journal) flushFrame(ops []checkpoint.Op, f *frame) []checkpoint.Op {
	if counts := j.counts[f]; len(counts) > 0 {
		var b jsonObject
		for i := range f.counts {
			if counts[i] {
				b.key(f.plan.nodes[i].Name).raw(strconv.AppendInt(nil, int64(f.counts[i]), 10))
			}
		}
		f.home.keep(f.channel("counts"))
		ops = append(ops, checkpoint.Op{Kind: checkpoint.OpMerge, Channel: f.channel("counts"), Value: b.end()})
	}
	if buffers := j.buffers[f]; len(buffers) > 0 {
		for i := range f.buffers {
			if !buffers[i] {
				continue
			}
			channel := f.channel("buffer") + ":" + f.plan.nodes[i].Name
			if len(f.buffers[i]) == 0 {
				ops = append(ops, checkpoint.Op{Kind: checkpoint.OpDelete, Channel: channel})
				continue
			}
			f.home.keep(channel)
			ops = append(ops, checkpoint.Op{Kind: checkpoint.OpSet, Channel: channel, Value: encode(f.buffers[i])})
		}
	}
	return ops
}

// runChannel is the prefix of the channels that hold one run each.
const runChannel = "@run:"

// runRecord is a run as its channel holds it. Its questions have channels of their own.
type runRecord struct {
	Node     string                  `json:"node"`
	N        int                     `json:"n"`
	Status   runStatus               `json:"status"`
	Epoch    string                  `json:"epoch"`
	Failures int                     `json:"failures"`
	Since    time.Time               `json:"since"`
	Wake     time.Time               `json:"wake"`
	Failure  *checkpoint.Failure     `json:"failure"`
	Route    string                  `json:"route"`
	Given    map[string]AnswerRecord `json:"given"`
	Were     map[string]answered     `json:"were"`
	Feedback map[string]AnswerRecord `json:"feedback"`
	Before   map[string]AnswerRecord `json:"discarded"`
	Settled  bool                    `json:"settled"`
	Refused  bool                    `json:"refused"`
	Ends     checkpoint.Status       `json:"ends"`
	Why      *refusal                `json:"why"`
	NoWrite  bool                    `json:"no_write"`
	Barrier  bool                    `json:"barrier"`
	Input    json.RawMessage         `json:"input"`
	Output   json.RawMessage         `json:"output"`
	Updates  map[string]Value        `json:"updates"`
}

// encode writes only what is set; values go in as the bytes they are.
func (r *run) encode() json.RawMessage {
	var b jsonObject
	b.key("node").raw(encode(r.node.Name))
	b.key("n").raw(strconv.AppendInt(nil, int64(r.n), 10))
	b.key("status").raw(encode(r.status))
	if r.epoch != "" {
		b.key("epoch").raw(encode(r.epoch))
	}
	if r.failures > 0 {
		b.key("failures").raw(strconv.AppendInt(nil, int64(r.failures), 10))
	}
	if !r.since.IsZero() {
		b.key("since").raw(encode(r.since))
	}
	if !r.wake.IsZero() {
		b.key("wake").raw(encode(r.wake))
	}
	if r.failure != nil {
		b.key("failure").raw(encode(r.failure))
	}
	if r.route != "" {
		b.key("route").raw(encode(r.route))
	}
	if len(r.given) > 0 {
		b.key("given").raw(encode(r.given))
		b.key("were").raw(encode(r.were))
	}
	if len(r.feedback) > 0 {
		b.key("feedback").raw(encode(r.feedback))
	}
	if len(r.discarded) > 0 {
		b.key("discarded").raw(encode(r.discarded))
	}
	b.flag("settled", r.settled)
	b.flag("refused", r.refused)
	if r.ends != "" {
		b.key("ends").raw(encode(r.ends))
	}
	if r.why != nil {
		b.key("why").raw(encode(r.why))
	}
	b.flag("no_write", r.noWrite)
	b.flag("barrier", r.barrier)
	if !r.input.IsNull() {
		b.key("input").raw(r.input.JSON())
	}
	if !r.output.IsNull() {
		b.key("output").raw(r.output.JSON())
	}
	if len(r.updates) > 0 {
		b.key("updates").raw(encodeValues(r.updates))
	}
	return b.end()
}

// encodeValues writes an object of values as the bytes they are, in key order.
func encodeValues(m map[string]Value) json.RawMessage {
	var b jsonObject
	for _, key := range sortedKeys(m) {
		b.key(key).raw(m[key].JSON())
	}
	return b.end()
}

// jsonObject writes one JSON object member by member.
type jsonObject struct{ buf []byte }

func (b *jsonObject) key(name string) *jsonObject {
	if len(b.buf) == 0 {
		b.buf = append(b.buf, '{')
	} else {
		b.buf = append(b.buf, ',')
	}
	b.buf = append(append(b.buf, encode(name)...), ':')
	return b
}

func (b *jsonObject) raw(value []byte) { b.buf = append(b.buf, value...) }

func (b *jsonObject) flag(name string, set bool) {
	if set {
		b.key(name).raw([]byte("true"))
	}
}

func (b *jsonObject) end() json.RawMessage {
	if len(b.buf) == 0 {
		return json.RawMessage("{}")
	}
	return append(b.buf, '}')
}
