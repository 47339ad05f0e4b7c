package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// kind is how others are to learn of a write.
type kind string

const (
	quiet    kind = "quiet"  // not at all
	change   kind = "change" // the row has changed
	deletion kind = "delete"
	arrival  kind = "arrive" // the row comes, and with it what was put aside
)

// write is one write on a thread while it is put together: the row as it was read, what it is to become, and the commands
// that do the rest.
type write struct {
	s        *Store
	head     *head
	id       string
	again    bool // an earlier try of the same write may have been applied
	done     bool // there is nothing to do, or it was done by an earlier try
	kind     kind
	leased   bool // applies only while the lease that was read lasts
	freeing  bool // makes room, and so is let in when there is none
	places   map[string]place
	end      int64  // of the lease that was read
	stone    []byte // for an arrival the tombstone that was read
	stored   totals
	keys     []string
	commands []any
}

// change reads the thread's row, has prepare ask the rules and say what is to be written, and applies it, again from the
// beginning when the row has changed meanwhile. It returns the row as it is afterwards. prepare may be called many times.
func (s *Store) change(ctx context.Context, thread string, prepare func(ctx context.Context, w *write) error) (*head, error) {
	if s.o.ReadOnly {
		return nil, s.readOnly()
	}
	id := uuid.NewString()
	for again := false; ; again = true {
		h, err := s.head(ctx, thread)
		if err != nil {
			return nil, err
		}
		if again && (h.write == id || h.buried == id) {
			return h, nil
		}
		w := &write{s: s, head: h, id: id, again: again, kind: change, places: s.places(h), stored: h.stored, end: checkpoint.ToMicros(h.lease.Until)}
		if err := prepare(ctx, w); errors.Is(err, errStale) {
			continue
		} else if err != nil {
			return nil, err
		}
		if w.done {
			return h, nil
		}
		applied, err := w.apply(ctx)
		if err != nil || applied {
			return h, err
		}
	}
}

// readOnly is the refusal of a write.
func (s *Store) readOnly() error { return fmt.Errorf("%s: %w", s.URL(), checkpoint.ErrReadOnly) }

// errStale is for what prepare read and what does not fit the row, because it has changed since.
var errStale = errors.New("the row has changed")

// do adds a command on a key.
func (w *write) do(command, key string, args ...any) {
	at := slices.Index(w.keys, key)
	if at < 0 {
		at, w.keys = len(w.keys), append(w.keys, key)
	}
	w.commands = append(append(w.commands, command, at+len(w.fixed())+1, len(args)), args...)
}

// fixed are the keys that the script knows by their place.
func (w *write) fixed() []string {
	k := w.s.keys
	return []string{k.thread(w.head.info.Thread), k.tombstones(), k.seq(), k.bySeq(), k.gone()}
}

// save writes the row. With touched it is a change that watchers are to see.
func (w *write) save(touched bool) {
	h := w.head
	if w.kind = quiet; touched {
		w.kind, h.info.Updated = change, h.now
	}
	h.present, h.answers = true, len(h.lease.Answers)
	thread := w.s.keys.thread(h.info.Thread)
	w.do("HSET", thread, fieldRow, pack(h.tell))
	if answers := codec.EncodeList(h.lease.Answers); len(answers) > 0 {
		w.do("HSET", thread, fieldAnswers, answers)
	} else {
		w.do("HDEL", thread, fieldAnswers)
	}
}

// move brings the thread from its places in the sorted sets to those it is to have.
func (w *write) move() {
	after := w.s.places(w.head)
	for key, old := range w.places {
		if now, ok := after[key]; !ok || now.member != old.member {
			w.do("ZREM", key, old.member)
		}
	}
	for key, now := range after {
		if old, ok := w.places[key]; !ok || now != old {
			w.do("ZADD", key, now.score, now.member)
		}
	}
}

// count brings the store's totals up to date.
func (w *write) count() {
	now := w.head.stored
	for name, n := range map[string]int64{"steps": now.steps - w.stored.steps, "bytes": now.bytes - w.stored.bytes} {
		if n != 0 {
			w.do("HINCRBY", w.s.keys.totals(), name, n)
		}
	}
}

// apply sends the write and reports whether it was applied; if not, the row has changed since it was read.
func (w *write) apply(ctx context.Context) (bool, error) {
	w.move()
	w.count()
	h := w.head
	seen, ending := h.write, any("")
	switch {
	case w.leased:
		ending = w.end
	case w.kind == arrival:
		ending = w.stone
	}
	args := append([]any{h.info.Thread, seen, w.id, ending, w.s.scriptTime(), string(w.kind), w.s.keys.changes()}, w.commands...)
	script := w.s.scripts.apply
	if w.freeing {
		script = w.s.scripts.free
	}
	var seq int64
	err := w.s.patiently(ctx, func() (err error) {
		seq, err = script.Run(ctx, w.s.client, append(w.fixed(), w.keys...), args...).Int64()
		return err
	})
	if seq == -2 {
		err = errExpired
	}
	if err != nil || seq < 0 {
		return false, err
	}
	if seq > 0 {
		h.info.Seq = seq
	}
	h.write = w.id
	return true, nil
}
