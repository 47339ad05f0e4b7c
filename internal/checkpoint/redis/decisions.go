package redis

import (
	"context"
	"errors"
	"iter"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// tellDecision names what a row of the chain holds.
func tellDecision(d *checkpoint.Decision) func(*packer) {
	return func(p *packer) {
		p.number(&d.N)
		for _, text := range []*string{&d.Thread, &d.ID, &d.ResponseID, &d.Interrupt, &d.Key, &d.Address, &d.Path, &d.Action,
			&d.Comment, &d.Reviewer, &d.ShownHash, (*string)(&d.Outcome), &d.Withdraws, &d.PrevHash, &d.Hash} {
			p.text(text)
		}
		p.number(&d.Version.Step)
		p.number(&d.Version.Revision)
		p.raw(&d.Data)
		p.time(&d.DecidedAt)
		p.float(&d.WaitedSeconds)
	}
}

// link appends decisions to the thread's chain.
func (w *write) link(ctx context.Context, ds []checkpoint.Decision) error {
	thread := w.head.info.Thread
	if err := w.refuseRepeated(ctx, ds); err != nil {
		return err
	}
	chain := w.head.chain()
	for i := range ds {
		d := ds[i]
		chain.Append(thread, &d)
		w.do("RPUSH", w.s.keys.decisions(thread), pack(tellDecision(&d)))
		if d.ResponseID != "" {
			w.do("HSET", w.s.keys.responses(thread), d.ResponseID, d.N)
		}
	}
	w.head.info.Decisions, w.head.info.DecisionHash = chain.Count, chain.Last
	return nil
}

// refuseRepeated refuses a response id that the thread already knows.
func (w *write) refuseRepeated(ctx context.Context, ds []checkpoint.Decision) error {
	thread := w.head.info.Thread
	var ids []string
	given := make(map[string]bool)
	for i := range ds {
		id := ds[i].ResponseID
		if id == "" {
			continue
		}
		if given[id] {
			return checkpoint.DuplicateResponse(thread, id)
		}
		given[id] = true
		ids = append(ids, id)
	}
	if len(ids) == 0 || !w.head.present {
		return nil
	}
	var known []any
	err := w.s.patiently(ctx, func() (err error) {
		known, err = w.s.client.HMGet(ctx, w.s.keys.responses(thread), ids...).Result()
		return err
	})
	for i := range known {
		if known[i] != nil {
			return checkpoint.DuplicateResponse(thread, ids[i])
		}
	}
	return err
}

// decisions reads rows of a chain by their places from 0, and whether the thread is there.
func (s *Store) decisions(ctx context.Context, thread string, from, to int64) ([]*checkpoint.Decision, bool, error) {
	replies, err := s.moment(ctx, []any{"EXISTS", s.keys.thread(thread)}, []any{"LRANGE", s.keys.decisions(thread), from, to})
	if err != nil {
		return nil, false, err
	}
	rows, _ := replies[1].([]any)
	list := make([]*checkpoint.Decision, len(rows))
	for i, row := range rows {
		list[i] = new(checkpoint.Decision)
		if err := unpack(text(row), tellDecision(list[i])); err != nil {
			return list[:i], true, &checkpoint.CorruptError{Thread: thread, Where: "row " + strconv.FormatInt(from+int64(i)+1, 10) + " of its decisions", Err: err}
		}
	}
	return list, integer(replies[0]) > 0, nil
}

// Decisions implements checkpoint.Store.
func (s *Store) Decisions(ctx context.Context, thread string) iter.Seq2[*checkpoint.Decision, error] {
	return func(yield func(*checkpoint.Decision, error) bool) {
		const pageSize = 100
		for from := int64(0); ; from += pageSize {
			page, there, err := s.decisions(ctx, thread, from, from+pageSize-1)
			if err == nil && !there {
				err = checkpoint.ThreadNotFound(thread)
			}
			for _, d := range page {
				if !yield(d, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(page) < pageSize {
				return
			}
		}
	}
}

// FindDecision implements checkpoint.Store.
func (s *Store) FindDecision(ctx context.Context, thread, responseID string) (*checkpoint.Decision, error) {
	var n int64
	err := s.patiently(ctx, func() (err error) {
		n, err = s.client.HGet(ctx, s.keys.responses(thread), responseID).Int64()
		return err
	})
	if errors.Is(err, redis.Nil) {
		return nil, checkpoint.ResponseNotFound(thread, responseID)
	}
	if err != nil {
		return nil, err
	}
	found, _, err := s.decisions(ctx, thread, n-1, n-1)
	if err == nil && len(found) == 0 {
		err = checkpoint.ResponseNotFound(thread, responseID)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// tellTombstone names what a tombstone holds; by is the id of the write that left it.
func tellTombstone(t *checkpoint.Tombstone, by *string) func(*packer) {
	return func(p *packer) {
		p.time(&t.DeletedAt)
		p.number(&t.Decisions)
		p.text(&t.DecisionHash)
		p.text(by)
	}
}

// Tombstones implements checkpoint.Store.
func (s *Store) Tombstones(ctx context.Context) ([]checkpoint.Tombstone, error) {
	const pageSize = 500
	var list []checkpoint.Tombstone
	for from := int64(0); ; from += pageSize { // they only ever become more, at the end
		var threads []string
		var rows []any
		err := s.patiently(ctx, func() (err error) {
			threads, err = s.client.ZRange(ctx, s.keys.gone(), from, from+pageSize-1).Result()
			if err == nil && len(threads) > 0 {
				rows, err = s.client.HMGet(ctx, s.keys.tombstones(), threads...).Result()
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, thread := range threads {
			t := checkpoint.Tombstone{Thread: thread}
			if err := unpack(text(rows[i]), tellTombstone(&t, new(string))); err != nil {
				return nil, &checkpoint.CorruptError{Thread: thread, Where: "its tombstone", Err: err}
			}
			list = append(list, t)
		}
		if len(threads) < pageSize {
			return list, nil
		}
	}
}
