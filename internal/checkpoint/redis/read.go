package redis

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// run runs a script that only reads, on a replica too. A reply of false is a nil list.
func (s *Store) run(ctx context.Context, script *redis.Script, keys []string, args ...any) ([]any, error) {
	var reply []any
	err := s.patiently(ctx, func() (err error) {
		if reply, err = script.RunRO(ctx, s.client, keys, args...).Slice(); errors.Is(err, redis.Nil) {
			err = nil
		}
		return err
	})
	return reply, err
}

// moment runs commands that read, all as of one moment, and gives their replies. It is a script, since a server whose memory
// is full takes no transaction, not even one that only reads.
func (s *Store) moment(ctx context.Context, commands ...[]any) ([]any, error) {
	var words []any
	for _, c := range commands {
		words = append(append(words, len(c)), c...)
	}
	replies, err := s.run(ctx, s.scripts.moment, nil, words...)
	if err == nil && len(replies) > len(commands) {
		err = fmt.Errorf("%d replies to %d commands", len(replies), len(commands))
	}
	// What is not there at the end of a script's reply is not told.
	return append(replies, make([]any, max(0, len(commands)-len(replies)))...), err
}

// integer is a number of a reply, 0 for one that is not there.
func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}

// stepKeys are the keys of what a step consists of.
func (k keys) stepKeys(thread string) []string {
	return []string{k.steps(thread), k.records(thread), k.states(thread)}
}

// text is a value of a reply, "" for one that is not there.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// Get implements checkpoint.Store.
func (s *Store) Get(ctx context.Context, thread string, n int64) (*checkpoint.Checkpoint, error) {
	reply, err := s.run(ctx, s.scripts.chain, s.keys.stepKeys(thread), n)
	if err != nil {
		return nil, err
	}
	if len(reply) == 0 {
		return nil, checkpoint.StepNotFound(thread, n)
	}
	states, last, err := rebuild(thread, reply[1:])
	if err != nil {
		return nil, err
	}
	c, err := last.decode(thread, text(reply[0]))
	if err != nil {
		return nil, err
	}
	c.Channels, err = states.Channels(n)
	return c, err
}

// rebuild builds the state of the last of the steps given as members and states.
func rebuild(thread string, chain []any) (*codec.Rebuild, step, error) {
	states, last := newRebuild(thread), step{}
	for i := 0; i+1 < len(chain); i += 2 {
		var err error
		if last, err = parseStep(thread, text(chain[i])); err == nil {
			err = addState(states, &last, chain[i+1])
		}
		if err != nil {
			return nil, last, err
		}
	}
	return states, last, nil
}

func newRebuild(thread string) *codec.Rebuild {
	return &codec.Rebuild{Thread: thread, Where: "its states"}
}

func addState(r *codec.Rebuild, s *step, state any) error {
	return r.Add(s.step, s.base(), []byte(text(state)))
}

// Latest implements checkpoint.Store.
func (s *Store) Latest(ctx context.Context, thread string) (*checkpoint.Checkpoint, error) {
	for missing := int64(-1); ; {
		info, err := s.Thread(ctx, thread)
		if err != nil {
			return nil, err
		}
		if info.Step == missing {
			return nil, headMissing(thread, missing)
		}
		c, err := s.Get(ctx, thread, info.Step)
		if !errors.Is(err, checkpoint.ErrNotFound) {
			return c, err
		}
		missing = info.Step // the head moved on and was pruned, or the thread was deleted, unless it is the same again
	}
}

func headMissing(thread string, n int64) error {
	return &checkpoint.CorruptError{Thread: thread, Step: n, Where: "its steps", Err: errors.New("the head of the thread is missing")}
}

// A page of a history ends with whichever comes first: a script that reads more keeps others waiting.
const (
	historySteps = 100
	historyBytes = 1 << 20
)

// History implements checkpoint.Store. A corrupt step is yielded as its error, and those after it follow.
func (s *Store) History(ctx context.Context, thread string, withState bool) iter.Seq2[*checkpoint.Checkpoint, error] {
	return func(yield func(*checkpoint.Checkpoint, error) bool) {
		h := history{thread: thread, withState: withState, states: newRebuild(thread)}
		for after := "-1"; ; {
			page, err := s.run(ctx, s.scripts.history, s.keys.stepKeys(thread), after, historySteps, historyBytes, withState)
			if err == nil && len(page) == 0 && after == "-1" {
				err = checkpoint.ThreadNotFound(thread)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := 0; i+3 < len(page); i += 4 {
				if !yield(h.entry(page[i+1], page[i+2], page[i+3])) {
					return
				}
				after = text(page[i])
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

type history struct {
	thread    string
	withState bool
	states    *codec.Rebuild
}

func (h *history) entry(member, record, state any) (*checkpoint.Checkpoint, error) {
	at, err := parseStep(h.thread, text(member))
	if err != nil {
		return nil, err
	}
	c, err := at.decode(h.thread, text(record))
	if !h.withState {
		return c, err
	}
	if err := addState(h.states, &at, state); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	c.Channels, err = h.states.Channels(at.step)
	return c, err
}
