package threadfile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// Definitions gives the definition of a fingerprint; checkpoint.Store is one.
type Definitions interface {
	Definition(ctx context.Context, fingerprint string) (*checkpoint.Definition, error)
}

// Write writes a thread with the definitions it has run, a step at a time. With mask the file is redacted. progress, which
// may be nil, hears of each step.
func Write(ctx context.Context, to io.Writer, b *checkpoint.Bundle, d Definitions, mask Masker, progress func(step int64)) error {
	w := &writer{w: bufio.NewWriterSize(to, 1<<16), mask: mask}
	if mask == nil {
		w.mask = plain{}
	}
	w.header(mask != nil)
	w.thread(&b.Thread)
	fingerprints := w.steps(b, progress)
	w.decisions(b)
	w.begin(answers)
	for _, a := range b.Answers {
		w.element(struct {
			N int `json:"n"`
		}{w.count + 1}, func(o *verbatim.Object) { o.JSON("answer", w.mask.JSON(a)) })
	}
	w.end()
	w.begin(results)
	for i := range b.Results {
		r := &b.Results[i]
		w.element(resultLine{r.Step, text(r.Path)}, func(o *verbatim.Object) { o.JSON("data", w.mask.JSON(r.Data)) })
	}
	w.end()
	w.begin(definitions)
	for _, fingerprint := range fingerprints {
		w.definition(ctx, d, fingerprint)
	}
	w.end()
	w.put(`"end":`)
	w.line(struct {
		Steps int64 `json:"steps"`
	}{w.all}, nil)
	w.put("}\n")
	if w.err != nil {
		return fmt.Errorf("export thread %s: %w", b.Thread.Thread, w.err)
	}
	return w.w.Flush()
}

// plain masks nothing.
type plain struct{}

func (plain) Text(s string) string                                { return s }
func (plain) Field(_ string, raw json.RawMessage) json.RawMessage { return raw }
func (plain) JSON(raw json.RawMessage) json.RawMessage            { return raw }

// writer writes until its first error.
type writer struct {
	w     *bufio.Writer
	mask  Masker
	sum   uint32
	count int   // elements of the present list
	all   int64 // steps
	err   error
}

func (w *writer) put(s string) {
	if w.err == nil {
		_, w.err = w.w.WriteString(s)
	}
}

func (w *writer) header(redacted bool) {
	b, err := verbatim.Marshal(header{Format: format, Version: version, Redacted: redacted}, "")
	w.err = err
	w.put(string(b[:max(len(b)-1, 0)]) + ",\n") // the object goes on
}

// text masks within a text.
func (w *writer) text(s string) text { return text(w.mask.Text(s)) }

// line writes an object with its sum. more adds what is JSON from outside.
func (w *writer) line(v any, more func(*verbatim.Object)) {
	o, err := verbatim.LineOf(v)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	if more != nil {
		more(o)
	}
	body := o.B[:len(o.B)-1]
	w.sum = crc32.Update(w.sum, castagnoli(), body)
	w.put(string(body))
	w.put(fmt.Sprintf(sumFormat, w.sum))
}

// sumFormat ends the line of an object.
const sumFormat = `,"sum":"crc32c:%08x"}`

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func (w *writer) begin(list string) {
	w.count = 0
	w.put(`"` + list + `":[`)
}

func (w *writer) element(v any, more func(*verbatim.Object)) {
	separator := ",\n"
	if w.count == 0 {
		separator = "\n"
	}
	w.count++
	w.put(separator)
	w.line(v, more)
}

func (w *writer) end() { w.put("\n],\n") }

func (w *writer) thread(t *checkpoint.ThreadInfo) {
	w.put(`"thread":`)
	w.line(threadLine{Thread: text(t.Thread), Workflow: text(t.Workflow), Fingerprint: text(t.Fingerprint), Workdir: text(t.Workdir),
		StartedBy: text(t.StartedBy), Step: t.Step, Revision: t.Revision, Created: t.Created, Updated: t.Updated,
		Origin: originOf(t.Origin), Phase: t.Phase, Title: w.text(t.Title), Node: text(t.Node), Questions: t.Questions,
		Answered: t.Answered, WaitingSince: t.WaitingSince, Due: t.Due, Assignee: text(t.Assignee), Group: text(t.Group),
		Priority: text(t.Priority), Error: w.text(t.Error), Decisions: t.Decisions, DecisionHash: t.DecisionHash}, nil)
	w.put(",\n")
}

func originOf(o *checkpoint.Origin) *origin {
	if o == nil {
		return nil
	}
	return &origin{text(o.Thread), o.Step}
}

// steps writes the steps, and gives the fingerprints of the definitions they ran, in their order.
func (w *writer) steps(b *checkpoint.Bundle, progress func(int64)) (fingerprints []string) {
	w.begin(steps)
	known := map[string]bool{"": true}
	var before checkpoint.Channels
	for c, err := range b.Steps {
		if err == nil {
			err = w.err
		}
		if err != nil {
			w.err = err
			return nil
		}
		w.step(c, checkpoint.Diff(before, c.Channels))
		before = c.Channels
		w.all++
		if !known[c.Fingerprint] {
			known[c.Fingerprint] = true
			fingerprints = append(fingerprints, c.Fingerprint)
		}
		if progress != nil {
			progress(c.Step)
		}
	}
	w.end()
	return fingerprints
}

func (w *writer) step(c *checkpoint.Checkpoint, ops []checkpoint.Op) {
	l := stepLine{Step: c.Step, Revision: c.Revision, TS: c.TS, Commit: text(c.Commit), Source: c.Source, Ended: c.Ended,
		Workflow: text(c.Workflow), Fingerprint: text(c.Fingerprint), Next: textsOf(c.Next), Open: c.Open, Decisions: textsOf(c.Decisions),
		Origin: originOf(c.Origin)}
	if e := c.Error; e != nil {
		l.Error = &failure{text(e.Path), text(e.Node), w.text(e.Message), e.Attempts, e.At}
	}
	for i := range c.Runs {
		r := &c.Runs[i]
		l.Runs = append(l.Runs, nodeRun{text(r.Path), text(r.Node), text(r.Status), text(r.Route), r.Attempts, r.Started, r.TookMS, w.text(r.Error)})
	}
	w.element(l, func(o *verbatim.Object) {
		if len(c.Interrupts) > 0 {
			o.Raw("interrupts", w.interrupts(c.Interrupts))
		}
		if len(c.Outputs) > 0 {
			o.JSON("outputs", w.mask.JSON(c.Outputs))
		}
		o.Raw("state", w.state(ops))
	})
}

func textsOf(list []string) []text {
	var out []text
	for _, s := range list {
		out = append(out, text(s))
	}
	return out
}

// joined puts objects into a list on one line.
func (w *writer) joined(n int, each func(i int) (any, func(*verbatim.Object))) []byte {
	b := []byte{'['}
	for i := range n {
		v, more := each(i)
		o, err := verbatim.LineOf(v)
		if err != nil {
			w.err = errors.Join(w.err, err)
			return nil
		}
		more(o)
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, o.B...)
	}
	return append(b, ']')
}

func (w *writer) interrupts(list []checkpoint.Interrupt) []byte {
	return w.joined(len(list), func(i int) (any, func(*verbatim.Object)) {
		q := &list[i]
		l := interruptLine{ID: text(q.ID), Key: text(q.Key), Address: text(q.Address), Node: text(q.Node), Path: text(q.Path),
			ContentKey: text(q.ContentKey), Asked: q.Asked, Due: q.Due, Overdue: q.Overdue, Place: q.Place, Round: q.Round}
		return l, func(o *verbatim.Object) {
			if len(q.Payload) > 0 {
				o.JSON("payload", w.mask.JSON(q.Payload))
			}
			if p := q.Previous; p != nil {
				before, err := verbatim.LineOf(previousLine{text(p.ID), w.text(p.Feedback), text(p.By), text(p.Action)})
				if err != nil {
					w.err = errors.Join(w.err, err)
					return
				}
				if len(p.Value) > 0 {
					before.JSON("value", w.mask.JSON(p.Value))
				}
				if len(p.Content) > 0 {
					before.JSON("content", w.mask.JSON(p.Content))
				}
				o.Raw("previous", before.B)
			}
		}
	})
}

var opNames = [...]struct {
	kind checkpoint.OpKind
	name string
}{{checkpoint.OpSet, "set"}, {checkpoint.OpAppend, "append"}, {checkpoint.OpMerge, "merge"}, {checkpoint.OpDelete, "delete"}}

func (w *writer) state(ops []checkpoint.Op) []byte {
	return w.joined(len(ops), func(i int) (any, func(*verbatim.Object)) {
		op := &ops[i]
		var name string
		for _, known := range opNames {
			if known.kind == op.Kind {
				name = known.name
			}
		}
		l := struct {
			Op      string `json:"op"`
			Channel text   `json:"channel"`
		}{name, text(op.Channel)}
		return l, func(o *verbatim.Object) {
			if op.Kind != checkpoint.OpDelete {
				o.JSON("value", w.value(op))
			}
		}
	})
}

// value is the value of a channel. One that holds a question is masked as questions are, whatever its node is called.
func (w *writer) value(op *checkpoint.Op) json.RawMessage {
	if _, none := w.mask.(plain); none || !checkpoint.IsQuestion(op.Channel) {
		return w.mask.Field(op.Channel, op.Value)
	}
	q, err := checkpoint.DecodeInterrupt(op.Value)
	if err != nil {
		return w.mask.JSON(op.Value)
	}
	q.Payload = w.mask.JSON(q.Payload)
	if p := q.Previous; p != nil {
		p.Feedback, p.Value, p.Content = w.mask.Text(p.Feedback), w.mask.JSON(p.Value), w.mask.JSON(p.Content)
	}
	masked, err := q.Encode()
	w.err = errors.Join(w.err, err)
	return masked
}

func (w *writer) decisions(b *checkpoint.Bundle) {
	w.begin(decisions)
	for d, err := range b.Decisions {
		if err == nil {
			err = w.err
		}
		if err != nil {
			w.err = err
			return
		}
		w.element(decisionLine{N: d.N, ID: text(d.ID), ResponseID: text(d.ResponseID), Step: d.Version.Step, Revision: d.Version.Revision,
			Interrupt: text(d.Interrupt), Key: text(d.Key), Address: text(d.Address), Path: text(d.Path), Action: text(d.Action),
			Comment: w.text(d.Comment), Reviewer: text(d.Reviewer), DecidedAt: d.DecidedAt, WaitedSeconds: d.WaitedSeconds,
			ShownHash: text(d.ShownHash), Outcome: text(d.Outcome), Withdraws: text(d.Withdraws), PrevHash: text(d.PrevHash),
			Hash: text(d.Hash)}, func(o *verbatim.Object) {
			if len(d.Data) > 0 {
				o.JSON("data", w.mask.JSON(d.Data))
			}
		})
	}
	w.end()
}

// definition writes a definition; one that the store does not have, of a thread that came without an engine, is left out.
func (w *writer) definition(ctx context.Context, from Definitions, fingerprint string) {
	if w.err != nil {
		return
	}
	d, err := from.Definition(ctx, fingerprint)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return
	}
	if err != nil {
		w.err = err
		return
	}
	l := definitionLine{Fingerprint: text(d.Fingerprint), Workflow: text(d.Workflow), Graph: text(d.Graph), Source: text(d.Source)}
	for _, f := range d.Files {
		l.Files = append(l.Files, fileText{text(f.Path), w.text(f.Text)})
	}
	w.element(l, nil)
}
