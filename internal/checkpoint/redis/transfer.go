package redis

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Export implements checkpoint.Store.
func (s *Store) Export(ctx context.Context, thread string) (*checkpoint.Bundle, error) {
	h, results, err := s.headAndResults(ctx, thread)
	if err != nil {
		return nil, err
	}
	if !h.present {
		return nil, checkpoint.ThreadNotFound(thread)
	}
	return checkpoint.NewBundle(ctx, s, h.view(h.now), &h.lease, results), nil
}

// headAndResults reads the row of a thread and its pending results as of one moment.
func (s *Store) headAndResults(ctx context.Context, id string) (*head, []checkpoint.PendingResult, error) {
	for {
		h, err := s.head(ctx, id)
		if err != nil || h.results == 0 {
			return h, nil, err
		}
		results, err := (&write{s: s, head: h}).results(ctx)
		if err != nil {
			return nil, nil, err
		}
		if again, err := s.head(ctx, id); err != nil || again.write == h.write {
			return h, results, err
		}
	}
}

// What is put aside of an import expires by itself should nobody bring it to an end.
const importExpires = time.Hour

var errExpired = errors.New("the import was interrupted for so long that what was put aside has expired; try again")

// importBytes is about how much of a bundle is sent at once.
const importBytes = 1 << 20

// Import implements checkpoint.Store. What can be large is put aside under keys of its own, which one script then gives
// their names, together with the row: that takes no longer for a large thread.
func (s *Store) Import(ctx context.Context, b *checkpoint.Bundle, o checkpoint.ImportOptions) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if s.o.ReadOnly {
		return s.readOnly()
	}
	buried, _, err := s.admitImport(ctx, b, o)
	if err != nil {
		return err
	}
	a := &arriving{s: s, ctx: ctx, thread: b.Thread.Thread, aside: keys(string(s.keys) + "import:" + uuid.NewString() + ":"),
		used: make(map[string]string)}
	defer a.discard()
	if err := a.take(b, buried); err != nil {
		return err
	}
	_, err = s.change(ctx, a.thread, func(ctx context.Context, w *write) error {
		buried, stone, err := s.admitImport(ctx, b, o)
		if err != nil {
			return err
		}
		if buried != nil && (a.buried == nil || *buried != *a.buried) {
			return errMoved
		}
		w.arrive(a, b, stone)
		return nil
	})
	return err
}

// admitImport gives the tombstone in whose place the thread may come, and how it is stored.
func (s *Store) admitImport(ctx context.Context, b *checkpoint.Bundle, o checkpoint.ImportOptions) (*checkpoint.Tombstone, []byte, error) {
	h, err := s.head(ctx, b.Thread.Thread)
	if err != nil {
		return nil, nil, err
	}
	if h.present {
		v := h.info.Version()
		return nil, nil, b.AdmitImport(&v, nil, o)
	}
	buried, stone, err := s.buried(ctx, b.Thread.Thread)
	if err != nil {
		return nil, nil, err
	}
	return buried, stone, b.AdmitImport(nil, buried, o)
}

// buried reads a tombstone, nil for none, and how it is stored.
func (s *Store) buried(ctx context.Context, thread string) (*checkpoint.Tombstone, []byte, error) {
	var stored []byte
	err := s.patiently(ctx, func() (err error) {
		stored, err = s.client.HGet(ctx, s.keys.tombstones(), thread).Bytes()
		return err
	})
	if errors.Is(err, redis.Nil) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	t := &checkpoint.Tombstone{Thread: thread}
	if err := unpack(string(stored), tellTombstone(t, new(string))); err != nil {
		return nil, nil, &checkpoint.CorruptError{Thread: thread, Where: "its tombstone", Err: err}
	}
	return t, stored, nil
}

// arriving is a thread while what belongs to it is put aside.
type arriving struct {
	s      *Store
	ctx    context.Context
	thread string
	aside  keys
	used   map[string]string // keys aside, and what they are to be called
	buried *checkpoint.Tombstone
	framer codec.Framer
	stored totals
	queued []func(redis.Pipeliner)
	size   int
}

func (a *arriving) take(b *checkpoint.Bundle, buried *checkpoint.Tombstone) error {
	a.buried = buried
	for c, err := range b.CheckedSteps(a.ctx) {
		if err == nil {
			err = a.step(c)
		}
		if err != nil {
			return err
		}
	}
	for d, err := range b.CheckedDecisions(a.ctx, buried) {
		if err == nil {
			err = a.decision(d)
		}
		if err != nil {
			return err
		}
	}
	for i := range b.Results {
		row := result{PendingResult: b.Results[i], n: int64(i) + 1}
		if err := a.add("HSET", a.key(keys.results), row.Path, pack(row.tell)); err != nil {
			return err
		}
	}
	return a.flush()
}

func (a *arriving) step(c *checkpoint.Checkpoint) error {
	record, err := encodeRecord(c)
	if err != nil {
		return err
	}
	n := step{step: c.Step, revision: c.Revision, ts: checkpoint.ToMicros(c.TS), commit: c.Commit}
	ops, keyframe := a.framer.Next(c.Channels)
	state := codec.EncodeOps(ops)
	if n.keyframe = keyframe; keyframe {
		state = codec.EncodeKeyframe(c.Channels)
		a.framer.Frames.Keyframe(c.Step, len(state))
	} else {
		a.framer.Frames.Step(len(state))
	}
	n.size, n.stateSize = int64(len(record)+len(state)), int64(len(state))
	a.stored.steps++
	a.stored.bytes += n.size
	field := strconv.FormatInt(c.Step, 10)
	return errors.Join(a.add("ZADD", a.key(keys.steps), c.Step, n.member()), a.add("HSET", a.key(keys.records), field, record),
		a.add("HSET", a.key(keys.states), field, state))
}

func (a *arriving) decision(d *checkpoint.Decision) error {
	if d.ResponseID != "" {
		if err := a.add("HSET", a.key(keys.responses), d.ResponseID, d.N); err != nil {
			return err
		}
	}
	return a.add("RPUSH", a.key(keys.decisions), pack(tellDecision(d.Clone()))) // packing rounds times in place
}

// key is the key aside for one of the thread's.
func (a *arriving) key(of func(keys, string) string) string {
	key := of(a.aside, "")
	a.used[key] = of(a.s.keys, a.thread)
	return key
}

// add sends a command, perhaps with others later.
func (a *arriving) add(command, key string, args ...any) error {
	for _, arg := range args {
		if b, ok := arg.([]byte); ok {
			a.size += len(b)
		}
	}
	a.size += 100
	a.queued = append(a.queued, func(p redis.Pipeliner) { p.Do(a.ctx, append([]any{command, key}, args...)...) })
	if a.size < importBytes {
		return nil
	}
	return a.flush()
}

// flush sends what is queued, and has what is put aside live on. It is not tried again where an answer is lost, since
// what was pushed would be there twice.
func (a *arriving) flush() error {
	_, err := a.s.client.TxPipelined(a.ctx, func(p redis.Pipeliner) error {
		for _, queue := range a.queued {
			queue(p)
		}
		for key := range a.used {
			p.Expire(a.ctx, key, importExpires)
		}
		return nil
	})
	a.queued, a.size = nil, 0
	return a.s.classify(a.ctx, err)
}

// discard removes what is still aside.
func (a *arriving) discard() {
	var left []string
	for key := range a.used {
		left = append(left, key)
	}
	if len(left) > 0 {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), time.Second)
		defer cancel()
		a.s.client.Unlink(ctx, left...) // else it expires
	}
}

// arrive makes what was put aside the thread.
func (w *write) arrive(a *arriving, b *checkpoint.Bundle, stone []byte) {
	h, row := w.head, &b.Thread
	h.info = *row
	h.info.Created, h.info.Summary = checkpoint.Micro(row.Created), row.Summary.Stored()
	h.lease, h.frames, h.stored, h.results = b.Lease(), a.framer.Frames, a.stored, int64(len(b.Results))
	for key, name := range a.used {
		w.do("RENAME", key, name)
		w.do("PERSIST", name)
	}
	h.now = checkpoint.Micro(row.Updated)
	w.save(true)
	w.kind, w.stone = arrival, stone
}

// Bury implements checkpoint.Store.
func (s *Store) Bury(ctx context.Context, t checkpoint.Tombstone) error {
	_, err := s.change(ctx, t.Thread, func(ctx context.Context, w *write) error {
		buried, _, err := s.buried(ctx, t.Thread)
		if err != nil {
			return err
		}
		if w.done, err = t.AdmitBurial(w.head.present, buried); err != nil || w.done {
			return err
		}
		w.bury(&t)
		return nil
	})
	return err
}
