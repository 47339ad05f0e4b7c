package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// stepColumns are the columns of a step without its state, in the order of step.scan.
const stepColumns = "step, revision, base, ts, state_size, commit_id, source, ended, workflow, fingerprint, record"

// step is a step as read.
type step struct {
	checkpoint.Checkpoint
	base   int64
	record []byte
	state  []byte
}

func (s *step) scan(rows scanner, more ...any) error {
	var ts int64
	var record string
	dest := append([]any{&s.Step, &s.Revision, &s.base, &ts, &s.SizeBytes, &s.Commit, (*string)(&s.Source), (*string)(&s.Ended),
		&s.Workflow, &s.Fingerprint, &record}, more...)
	err := rows.Scan(dest...)
	s.TS, s.record, s.Commit = checkpoint.FromMicros(ts), []byte(record), codec.CommitID(s.Commit)
	return err
}

// decode turns the record into c's fields.
func (s *step) decode() error {
	if err := codec.DecodeRecord(s.record, &s.Checkpoint); err != nil {
		return corrupt(s.Thread, s.Step, "record", err)
	}
	return nil
}

func corrupt(thread string, step int64, column string, err error) error {
	return &checkpoint.CorruptError{Thread: thread, Step: step, Where: "checkpoints." + column, Err: err}
}

// states builds the states of a thread from its rows.
func states(thread string) codec.Rebuild {
	return codec.Rebuild{Thread: thread, Where: "checkpoints.state"}
}

// chainOf are the conditions on the rows from which a step's state is built.
const chainOf = "thread = $1 AND step <= $2 AND step >= (SELECT base FROM checkpoints WHERE thread = $1 AND step = $2)"

// channels builds the state at a step.
func (t *tx) channels(thread string, at int64) (checkpoint.Channels, error) {
	b := states(thread)
	t.ask(func(rows scanner) error {
		var n, base int64
		var state []byte
		if err := rows.Scan(&n, &base, &state); err != nil {
			return err
		}
		return b.Add(n, base, state)
	}, "SELECT step, base, state FROM checkpoints WHERE "+chainOf+" ORDER BY step", thread, at)
	if err := t.flush(); err != nil {
		return nil, err
	}
	return b.Channels(at)
}

// Get implements checkpoint.Store.
func (s *Store) Get(ctx context.Context, thread string, at int64) (*checkpoint.Checkpoint, error) {
	var b codec.Rebuild
	var found *step
	err := s.read(ctx, func() { b, found = states(thread), nil }, func(rows scanner) error {
		row := step{Checkpoint: checkpoint.Checkpoint{Thread: thread}}
		if err := row.scan(rows, &row.state); err != nil {
			return err
		}
		found = &row
		return b.Add(row.Step, row.base, row.state)
	}, "SELECT "+stepColumns+", state FROM checkpoints WHERE "+chainOf+" ORDER BY step", thread, at)
	switch {
	case err != nil:
		return nil, err
	case found == nil || found.Step != at:
		return nil, checkpoint.StepNotFound(thread, at)
	}
	if err := found.decode(); err != nil {
		return nil, err
	}
	found.Channels, err = b.Channels(at)
	return &found.Checkpoint, err
}

// Latest implements checkpoint.Store.
func (s *Store) Latest(ctx context.Context, thread string) (*checkpoint.Checkpoint, error) {
	for missing := int64(-1); ; {
		var head int64
		found, err := s.readRow(ctx, "SELECT step FROM threads WHERE thread = $1", []any{thread}, &head)
		switch {
		case err != nil:
			return nil, err
		case !found:
			return nil, checkpoint.ThreadNotFound(thread)
		case head == missing:
			return nil, corrupt(thread, head, "step", errors.New("the head of the thread is missing"))
		}
		c, err := s.Get(ctx, thread, head)
		if !errors.Is(err, checkpoint.ErrNotFound) {
			return c, err
		}
		missing = head // the head moved on and was pruned, or the thread was deleted, unless it is the same again
	}
}

// historyPage is how many steps are read at once: a slow reader then holds neither a connection nor a snapshot.
const historyPage = 100

// History implements checkpoint.Store. A corrupt step is yielded as its error, and those after it follow.
func (s *Store) History(ctx context.Context, thread string, withState bool) iter.Seq2[*checkpoint.Checkpoint, error] {
	return func(yield func(*checkpoint.Checkpoint, error) bool) {
		text := "SELECT " + stepColumns
		if withState {
			text += ", state"
		}
		text += " FROM checkpoints WHERE thread = $1 AND step > $2 ORDER BY step LIMIT $3"
		b := states(thread)
		for after := int64(-1); ; {
			page, err := readAll(ctx, s, func(rows scanner, row *step) error {
				row.Thread = thread
				if withState {
					return row.scan(rows, &row.state)
				}
				return row.scan(rows)
			}, text, thread, after, historyPage)
			if err == nil && len(page) == 0 && after < 0 {
				err = checkpoint.ThreadNotFound(thread)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page {
				if !yield(page[i].read(&b, withState)) {
					return
				}
				after = page[i].Step
			}
			if len(page) < historyPage {
				return
			}
		}
	}
}

// read is the checkpoint of a row that follows those b was built from.
func (s *step) read(b *codec.Rebuild, withState bool) (*checkpoint.Checkpoint, error) {
	err := s.decode()
	if withState {
		broken := b.Add(s.Step, s.base, s.state)
		if broken == nil {
			s.Channels, broken = b.Channels(s.Step)
		}
		if broken != nil {
			err = broken
		}
	}
	if err != nil {
		return nil, err
	}
	return &s.Checkpoint, nil
}
