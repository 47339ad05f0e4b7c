package redis

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// The sorted sets behind listings give every member the score 0 and so order by the bytes of the members: the fields of a
// checkpoint.Key, written so that their bytes order as they do, and the thread.

// member writes a key of an order.
func member(k checkpoint.Key, order checkpoint.Sort) string {
	switch order {
	case checkpoint.SortName:
		return string(append(sortableText(k.Name), k.Thread...))
	case checkpoint.SortWaiting, checkpoint.SortUpdated:
		return string(append(sortableInt(nil, k.First), k.Thread...))
	default:
		return string(append(sortableInt(sortableInt(nil, k.First), k.Second), k.Thread...))
	}
}

// threadOf is the thread a member of an order stands for.
func threadOf(member string, order checkpoint.Sort) string {
	switch order {
	case checkpoint.SortName:
		return member[strings.Index(member, textEnd)+len(textEnd):]
	case checkpoint.SortWaiting, checkpoint.SortUpdated:
		return member[8:]
	default:
		return member[16:]
	}
}

// sortableInt appends n so that bytes order as numbers do.
func sortableInt(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(n)^(1<<63))
}

// intOf is the number at the beginning of a member.
func intOf(member string) int64 { return int64(binary.BigEndian.Uint64([]byte(member)) ^ (1 << 63)) }

// A text ends in textEnd, which orders before whatever could follow in a longer one: a zero byte in it is written as
// textZero.
const (
	textEnd  = "\x00\x01"
	textZero = "\x00\xff"
)

func sortableText(s string) []byte { return []byte(strings.ReplaceAll(s, "\x00", textZero) + textEnd) }

// backwards is an id with its bytes turned round, so that ids with the same end stand beside each other.
func backwards(id string) string {
	b := []byte(id)
	slices.Reverse(b)
	return string(b)
}

// place is what one thread has in one sorted set.
type place struct {
	member string
	score  int64
}

// places are all the places of a thread, by key. A thread that is not there has none.
func (s *Store) places(h *head) map[string]place {
	if !h.present {
		return nil
	}
	t := &h.info
	p := map[string]place{
		s.keys.byName(): {member: member(checkpoint.KeyOf(t, checkpoint.SortName), checkpoint.SortName)},
		s.keys.byTail(): {member: backwards(t.Thread)},
	}
	for order, key := range s.keys.inPhase(t.Phase) {
		p[key] = place{member: member(checkpoint.KeyOf(t, order), order)}
	}
	if h.lease.Token != "" {
		p[s.keys.leased()] = place{t.Thread, min(checkpoint.ToMicros(h.lease.Until), maxScore)}
	}
	if h.answers > 0 {
		p[s.keys.answered()] = place{member: t.Thread}
	}
	return p
}

// maxScore is the largest integer that a score, which is a float, and the scripts keep exactly.
const maxScore = math.MaxInt64 >> 10
