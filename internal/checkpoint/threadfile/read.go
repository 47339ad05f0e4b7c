package threadfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// File is a file that was read once and found whole: nothing in it was changed, its steps build their states, and its
// decisions are chained. It is read again, a step at a time, when its bundle is walked.
type File struct {
	Definitions []checkpoint.Definition
	Steps       int64

	from   io.ReadSeeker
	thread checkpoint.ThreadInfo
	bundle *checkpoint.Bundle
}

// Open reads a file, from where from stands now to its end, and checks all of it. A *Fault tells what is wrong and where;
// decisions that were tampered with are a *checkpoint.ChainError, too.
func Open(ctx context.Context, from io.ReadSeeker) (*File, error) {
	start, err := from.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	f := &File{from: from}
	b := &checkpoint.Bundle{}
	r := newReader(from)
	err = r.read(handlers{
		thread: func(t *checkpoint.ThreadInfo) error {
			b.Thread, f.thread = *t, *t
			return nil
		},
		answer: func(raw json.RawMessage) error {
			b.Answers = append(b.Answers, raw)
			return nil
		},
		result: func(p *checkpoint.PendingResult) error {
			b.Results = append(b.Results, *p)
			return nil
		},
		definition: func(d *checkpoint.Definition) error {
			f.Definitions = append(f.Definitions, *d)
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	f.Steps = r.all
	b.Steps = walk(f, start, func(h *handlers, yield func(*checkpoint.Checkpoint) error) { h.step = yield })
	b.Decisions = walk(f, start, func(h *handlers, yield func(*checkpoint.Decision) error) { h.decision = yield })
	f.bundle = b
	return f, f.verify(ctx)
}

// Bundle is the thread in the file. Its sequences are walked one at a time.
func (f *File) Bundle() *checkpoint.Bundle { return f.bundle }

// verify checks what the sums cannot tell.
func (f *File) verify(ctx context.Context) error {
	if err := f.bundle.Validate(); err != nil {
		return err
	}
	for _, err := range f.bundle.CheckedDecisions(ctx, nil) {
		if err != nil {
			return err
		}
	}
	for _, err := range f.bundle.CheckedSteps(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

var errStop = errors.New("no more is wanted")

// walk reads the file again for one of its lists.
func walk[T any](f *File, start int64, choose func(*handlers, func(T) error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if _, err := f.from.Seek(start, io.SeekStart); err != nil {
			yield(none, err)
			return
		}
		var h handlers
		choose(&h, func(v T) error {
			if !yield(v, nil) {
				return errStop
			}
			return nil
		})
		if err := newReader(f.from).read(h); err != nil && !errors.Is(err, errStop) {
			yield(none, err)
		}
	}
}

// handlers are told what is read; each may be nil.
type handlers struct {
	thread     func(*checkpoint.ThreadInfo) error
	step       func(*checkpoint.Checkpoint) error
	decision   func(*checkpoint.Decision) error
	answer     func(json.RawMessage) error
	result     func(*checkpoint.PendingResult) error
	definition func(*checkpoint.Definition) error
}

// reader reads line by line.
type reader struct {
	r     *bufio.Reader
	n     int    // of the present line
	l     []byte // the present line without its end
	sum   uint32
	id    string
	state checkpoint.Channels
	all   int64
	what  string
}

func newReader(from io.Reader) *reader { return &reader{r: bufio.NewReaderSize(from, 1<<16)} }

// fault is what is wrong with the present line.
func (r *reader) fault(err error, problem string, args ...any) error {
	return &Fault{Line: r.n, What: r.what, Problem: fmt.Sprintf(problem, args...), Err: err}
}

var errCut = errors.New("the file ends here: it was cut off; export the thread again")

// next reads a line.
func (r *reader) next() error {
	l, err := r.r.ReadBytes('\n')
	r.n++
	switch {
	case errors.Is(err, io.EOF):
		return r.fault(errCut, "%v", errCut)
	case err != nil:
		return err
	}
	r.l = bytes.TrimSuffix(l, []byte("\n"))
	return nil
}

// expect demands a line that begins and ends in certain ways, and takes these off.
func (r *reader) expect(prefix, suffix string) error {
	if err := r.next(); err != nil {
		return err
	}
	l, begins := bytes.CutPrefix(r.l, []byte(prefix))
	l, ends := bytes.CutSuffix(l, []byte(suffix))
	if !begins || !ends {
		return r.fault(nil, "%s", changed)
	}
	r.l = l
	return nil
}

const changed = "it was changed after it was exported, or written anew by another program; export the thread again, or copy the file as it is"

func (r *reader) read(h handlers) error {
	if err := r.header(); err != nil {
		return err
	}
	if err := r.expect(`"thread":`, ","); err != nil {
		return err
	}
	var t threadLine
	if err := r.object(&t); err != nil {
		return err
	}
	info := t.decode()
	r.id = info.Thread
	if h.thread != nil {
		if err := h.thread(info); err != nil {
			return err
		}
	}
	for _, list := range lists() {
		if err := r.list(list, h); err != nil {
			return err
		}
	}
	r.what = ""
	if err := r.expect(`"end":`, "}"); err != nil {
		return err
	}
	var end struct {
		Steps int64 `json:"steps"`
	}
	if err := r.object(&end); err != nil {
		return err
	}
	if end.Steps != r.all {
		return r.fault(nil, "it counts %d steps, %d are there", end.Steps, r.all)
	}
	return r.over()
}

// header reads the first line.
func (r *reader) header() error {
	err := r.next()
	var cut *Fault
	if err != nil && !errors.As(err, &cut) {
		return err
	}
	var h header
	open, goesOn := bytes.CutSuffix(r.l, []byte(","))
	if err != nil || !goesOn || json.Unmarshal(append(bytes.Clone(open), '}'), &h) != nil || h.Format != format {
		return r.fault(nil, "this is no exported thread; `hitl-tui export THREAD -o FILE` writes one")
	}
	switch {
	case h.Version > version:
		return r.fault(checkpoint.ErrNewerSchema, "the file has version %d, this program knows %d; use the newer program", h.Version, version)
	case h.Redacted:
		return r.fault(ErrRedacted, "%v; export the thread again without --redact", ErrRedacted)
	default:
		return nil
	}
}

// over demands that nothing follows.
func (r *reader) over() error {
	if _, err := r.r.ReadByte(); !errors.Is(err, io.EOF) {
		r.n++
		return errors.Join(r.fault(nil, "something follows after the end"), err)
	}
	return nil
}

// object checks the sum of the present line and reads it.
func (r *reader) object(v any) error {
	if err := r.intact(); err != nil {
		return err
	}
	if err := json.Unmarshal(r.l, v); err != nil {
		return r.fault(err, "it cannot be read: %v", err)
	}
	return nil
}

// intact checks the sum of the present line.
func (r *reader) intact() error {
	at := len(r.l) - len(fmt.Sprintf(sumFormat, 0))
	if at <= 0 {
		return r.fault(nil, "%s", changed)
	}
	r.sum = crc32.Update(r.sum, castagnoli(), r.l[:at])
	if string(r.l[at:]) == fmt.Sprintf(sumFormat, r.sum) {
		return nil
	}
	var named struct {
		Step *int64 `json:"step"`
		ID   text   `json:"id"`
	}
	if json.Unmarshal(r.l, &named) == nil && r.what != "" {
		switch {
		case named.ID != "":
			r.what += fmt.Sprintf(" (%s)", named.ID)
		case named.Step != nil:
			r.what += fmt.Sprintf(" (step %d)", *named.Step)
		}
	}
	return r.fault(nil, "%s", changed)
}

// list reads the elements of a list.
func (r *reader) list(name string, h handlers) error {
	r.what = name
	if err := r.expect(`"`+name+`":[`, ""); err != nil {
		return err
	}
	for i := 1; ; i++ {
		r.what = fmt.Sprintf("entry %d of %s", i, name)
		if err := r.next(); err != nil {
			return err
		}
		if string(r.l) == "]," {
			return nil
		}
		r.l = bytes.TrimSuffix(r.l, []byte(","))
		if err := r.element(name, h); err != nil {
			return err
		}
	}
}

func (r *reader) element(list string, h handlers) error {
	switch list {
	case steps:
		return r.step(h)
	case decisions:
		return told(r, h.decision, func(l *decisionFile) (*checkpoint.Decision, error) { return l.decode(r.id), nil })
	case answers:
		return told(r, h.answer, func(l *struct {
			Answer foreign `json:"answer"`
		}) (json.RawMessage, error) {
			return json.RawMessage(l.Answer), nil
		})
	case results:
		return told(r, h.result, func(l *struct {
			resultLine
			Data foreign `json:"data"`
		}) (*checkpoint.PendingResult, error) {
			return &checkpoint.PendingResult{Step: l.Step, Path: string(l.Path), Data: json.RawMessage(l.Data)}, nil
		})
	default:
		return told(r, h.definition, func(l *definitionLine) (*checkpoint.Definition, error) {
			d := l.decode()
			if checkpoint.Fingerprint(d.Files) != d.Fingerprint {
				return nil, errors.New("its files do not have the fingerprint it names")
			}
			return d, nil
		})
	}
}

// told reads the present line and tells what it holds.
func told[L, T any](r *reader, tell func(T) error, decode func(*L) (T, error)) error {
	if tell == nil {
		return r.intact()
	}
	var l L
	if err := r.object(&l); err != nil {
		return err
	}
	v, err := decode(&l)
	if err != nil {
		return r.fault(err, "%v", err)
	}
	return tell(v)
}

// step reads a step, whose state follows from the one before.
func (r *reader) step(h handlers) error {
	r.all++
	return told(r, h.step, func(l *stepFile) (*checkpoint.Checkpoint, error) {
		r.what = fmt.Sprintf("step %d", l.Step)
		ops, err := l.ops()
		if err == nil {
			r.state, err = checkpoint.Apply(r.state, ops)
		}
		if err != nil {
			return nil, err
		}
		c := l.decode(r.id)
		c.Channels = r.state
		return c, nil
	})
}
