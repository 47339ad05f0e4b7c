package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"iter"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// stepColumns are the columns of a step without its state, in the order of scanStep.
const stepColumns = "step, revision, base, ts, state_size, commit_id, source, ended, workflow, fingerprint, record"

// scanned is a step as read.
type scanned struct {
	checkpoint.Checkpoint
	base   int64
	record []byte
	state  []byte
	rest   []any
}

func (s *scanned) scan(rows *sql.Rows, more ...any) error {
	var ts int64
	dest := append(s.rest[:0], &s.Step, &s.Revision, &s.base, &ts, &s.SizeBytes, &s.Commit, (*string)(&s.Source), (*string)(&s.Ended),
		&s.Workflow, &s.Fingerprint, (*sql.RawBytes)(&s.record))
	s.rest = append(dest, more...)
	if err := rows.Scan(s.rest...); err != nil {
		return err
	}
	s.TS, s.Commit = checkpoint.FromMicros(ts), codec.CommitID(s.Commit)
	return nil
}

// decode turns the record into c's fields.
func (s *scanned) decode() error {
	if err := codec.DecodeRecord(s.record, &s.Checkpoint); err != nil {
		return corrupt(s.Thread, s.Step, "record", err)
	}
	return nil
}

func corrupt(thread string, step int64, column string, err error) error {
	return &checkpoint.CorruptError{Thread: thread, Step: step, Where: "checkpoints." + column, Err: err}
}

// chainOf are the conditions on the rows from which a step's state is built.
const chainOf = `thread = ?1 AND step <= ?2 AND step >= (SELECT base FROM checkpoints WHERE thread = ?1 AND step = ?2)`

// channels builds the state at a step.
func channels(ctx context.Context, q querier, thread string, step int64) (checkpoint.Channels, error) {
	rows, err := q.query(ctx, "SELECT step, base, state FROM checkpoints WHERE "+chainOf+" ORDER BY step", thread, step)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	b := states(thread)
	for rows.Next() {
		var at, base int64
		var state []byte
		if err := rows.Scan(&at, &base, &state); err != nil {
			return nil, err
		}
		if err := b.Add(at, base, state); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return b.Channels(step)
}

// states builds the states of a thread from its rows.
func states(thread string) codec.Rebuild {
	return codec.Rebuild{Thread: thread, Where: "checkpoints.state"}
}

// Get implements checkpoint.Store.
func (s *Store) Get(ctx context.Context, thread string, step int64) (*checkpoint.Checkpoint, error) {
	c, err := s.get(ctx, thread, step)
	return c, classify(err)
}

const selectStep = "SELECT " + stepColumns + ", state FROM checkpoints WHERE " + chainOf + " ORDER BY step"

func (s *Store) get(ctx context.Context, thread string, step int64) (*checkpoint.Checkpoint, error) {
	rows, err := s.readers.query(ctx, selectStep, thread, step)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	b := states(thread)
	for rows.Next() {
		row := scanned{Checkpoint: checkpoint.Checkpoint{Thread: thread}}
		if err := row.scan(rows, &row.state); err != nil {
			return nil, err
		}
		if err := b.Add(row.Step, row.base, row.state); err != nil {
			return nil, err
		}
		if row.Step != step {
			continue
		}
		if err := row.decode(); err != nil {
			return nil, err
		}
		if row.Channels, err = b.Channels(step); err != nil {
			return nil, err
		}
		return &row.Checkpoint, nil
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return nil, checkpoint.StepNotFound(thread, step)
}

// Latest implements checkpoint.Store.
func (s *Store) Latest(ctx context.Context, thread string) (*checkpoint.Checkpoint, error) {
	for missing := int64(-1); ; {
		var head int64
		found, err := rowOf(ctx, s.readers, "SELECT step FROM threads WHERE thread = ?", []any{thread}, &head)
		switch {
		case err != nil:
			return nil, classify(err)
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

// historyPage is how many steps are read at once: a slow reader then holds no snapshot, with which the log could not
// begin anew.
const historyPage = 100

// History implements checkpoint.Store. A corrupt step is yielded as its error, and those after it follow.
func (s *Store) History(ctx context.Context, thread string, withState bool) iter.Seq2[*checkpoint.Checkpoint, error] {
	return func(yield func(*checkpoint.Checkpoint, error) bool) {
		h := history{thread: thread, withState: withState, after: -1, states: states(thread)}
		for {
			page, err := h.page(ctx, s.readers)
			if err == nil && len(page) == 0 && h.after < 0 {
				err = checkpoint.ThreadNotFound(thread)
			}
			if err != nil {
				yield(nil, classify(err))
				return
			}
			for _, entry := range page {
				if !yield(entry.checkpoint, entry.err) {
					return
				}
				h.after = entry.step
			}
			if len(page) < historyPage {
				return
			}
		}
	}
}

type history struct {
	thread    string
	withState bool
	after     int64
	states    codec.Rebuild
}

type entry struct {
	step       int64
	checkpoint *checkpoint.Checkpoint
	err        error
}

func (h *history) page(ctx context.Context, q querier) ([]entry, error) {
	text := "SELECT " + stepColumns
	if h.withState {
		text += ", state"
	}
	rows, err := q.query(ctx, text+" FROM checkpoints WHERE thread = ? AND step > ? ORDER BY step LIMIT ?", h.thread, h.after, historyPage)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []entry
	for rows.Next() {
		row := scanned{Checkpoint: checkpoint.Checkpoint{Thread: h.thread}}
		var more []any
		if h.withState {
			more = append(more, &row.state)
		}
		if err := row.scan(rows, more...); err != nil {
			return nil, err
		}
		page = append(page, h.entry(&row))
	}
	return page, rows.Err()
}

func (h *history) entry(row *scanned) entry {
	e := entry{step: row.Step}
	e.err = row.decode()
	if h.withState {
		if err := h.states.Add(row.Step, row.base, row.state); err != nil {
			e.err = err
		} else if row.Channels, err = h.states.Channels(row.Step); err != nil {
			e.err = err
		}
	}
	if e.err == nil {
		e.checkpoint = &row.Checkpoint
	}
	return e
}
