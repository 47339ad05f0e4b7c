package redis

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// step is what the sorted set of a thread's steps tells of one: its member, whose score is the step.
type step struct {
	keyframe  bool
	step      int64
	revision  int64
	ts        int64
	size      int64 // bytes of the record and of the state
	stateSize int64
	commit    string // id of the commit, or of the write, that made it
}

// The first word of a member.
const (
	isKeyframe   = "keyframe"
	isOperations = "operations"
)

func (s *step) member() string {
	word := isOperations
	if s.keyframe {
		word = isKeyframe
	}
	return fmt.Sprintf("%s %d %d %d %d %d %s", word, s.step, s.revision, s.ts, s.size, s.stateSize, s.commit)
}

func parseStep(thread, member string) (step, error) {
	var s step
	fields := strings.SplitN(member, " ", 7)
	numbers := []*int64{&s.step, &s.revision, &s.ts, &s.size, &s.stateSize}
	ok := len(fields) == 7 && (fields[0] == isKeyframe || fields[0] == isOperations)
	for i := 0; ok && i < len(numbers); i++ {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		*numbers[i], ok = n, err == nil
	}
	if !ok {
		return s, &checkpoint.CorruptError{Thread: thread, Where: fmt.Sprintf("member %q of its steps", member), Err: errPacked}
	}
	s.keyframe, s.commit = fields[0] == isKeyframe, fields[6]
	return s, nil
}

// base is what codec.Rebuild takes for the step of the keyframe that s builds on: it only matters whether s is one.
func (s *step) base() int64 {
	if s.keyframe {
		return s.step
	}
	return -1
}

// record is a checkpoint without its state and without what a step tells.
type record struct {
	c    *checkpoint.Checkpoint
	rest json.RawMessage // see codec.EncodeRecord
}

func (r *record) tell(p *packer) {
	p.text((*string)(&r.c.Source))
	p.text((*string)(&r.c.Ended))
	p.text(&r.c.Workflow)
	p.text(&r.c.Fingerprint)
	p.raw(&r.rest)
}

func encodeRecord(c *checkpoint.Checkpoint) ([]byte, error) {
	rest, err := codec.EncodeRecord(c)
	if err != nil {
		return nil, err
	}
	r := record{c: c, rest: rest}
	return pack(r.tell), nil
}

// decode makes a checkpoint without its state of a step and its record.
func (s *step) decode(thread string, stored string) (*checkpoint.Checkpoint, error) {
	c := &checkpoint.Checkpoint{Thread: thread, Step: s.step, Revision: s.revision, TS: checkpoint.FromMicros(s.ts), SizeBytes: s.stateSize,
		Commit: codec.CommitID(s.commit)}
	r := record{c: c}
	err := unpack(stored, r.tell)
	if err == nil {
		err = codec.DecodeRecord(r.rest, c)
	}
	if err != nil {
		return nil, s.corrupt(thread, err)
	}
	return c, nil
}

// corrupt is the error of a record that cannot be read.
func (s *step) corrupt(thread string, err error) error {
	return &checkpoint.CorruptError{Thread: thread, Step: s.step, Where: "its records", Err: err}
}

// put writes a step over the one that is there, if old is not nil.
func (w *write) put(old *step, n *newStep) {
	thread, field := w.head.info.Thread, strconv.FormatInt(n.step.step, 10)
	n.size, n.stateSize = int64(len(n.record)+len(n.state)), int64(len(n.state))
	w.replace(old, &n.step)
	w.do("HSET", w.s.keys.records(thread), field, n.record)
	w.do("HSET", w.s.keys.states(thread), field, n.state)
}

// replace writes what the sorted set tells of a step.
func (w *write) replace(old, now *step) {
	steps, stored := w.s.keys.steps(w.head.info.Thread), &w.head.stored
	if old != nil {
		w.do("ZREM", steps, old.member())
		stored.bytes -= old.size
	} else {
		stored.steps++
	}
	w.do("ZADD", steps, now.step, now.member())
	stored.bytes += now.size
}

// steps reads what is told of the steps of a thread between two scores, in order.
func (s *Store) steps(ctx context.Context, thread, from, to string, limit int64) ([]step, error) {
	var members []string
	err := s.patiently(ctx, func() (err error) {
		members, err = s.client.ZRangeByScore(ctx, s.keys.steps(thread), &redis.ZRangeBy{Min: from, Max: to, Count: limit}).Result()
		return err
	})
	if err != nil {
		return nil, err
	}
	return parseSteps(thread, members)
}

func parseSteps(thread string, members []string) ([]step, error) {
	list := make([]step, len(members))
	for i, m := range members {
		var err error
		if list[i], err = parseStep(thread, m); err != nil {
			return nil, err
		}
	}
	return list, nil
}
