// Package codec writes checkpoints as bytes, for the backends that keep them as such: the operations of a step, or
// its whole state as a keyframe, and the rest of the record. JSON that came from outside is kept to the byte.
package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Operations are laid out as: format byte, CRC-32C of the rest (little endian), then for each its kind, and channel
// and value with their lengths as uvarints. A keyframe is the sets that build a state from nothing, by name.
const (
	format    = 1
	headerLen = 5
)

var (
	errShort    = errors.New("the stored state is cut off")
	errFormat   = errors.New("the stored state has an unknown format")
	errChecksum = errors.New("the stored state does not match its checksum")
)

// EncodeOps writes ops.
func EncodeOps(ops []checkpoint.Op) []byte {
	size := headerLen
	for i := range ops {
		size += 1 + 2*binary.MaxVarintLen32 + len(ops[i].Channel) + len(ops[i].Value)
	}
	b := make([]byte, headerLen, size)
	for i := range ops {
		b = append(b, byte(ops[i].Kind))
		b = appendField(b, ops[i].Channel)
		b = appendField(b, ops[i].Value)
	}
	b[0] = format
	binary.LittleEndian.PutUint32(b[1:], checksum(b))
	return b
}

// EncodeKeyframe writes a whole state.
func EncodeKeyframe(c checkpoint.Channels) []byte {
	ops := make([]checkpoint.Op, 0, len(c))
	for _, name := range slices.Sorted(maps.Keys(c)) {
		ops = append(ops, checkpoint.Op{Kind: checkpoint.OpSet, Channel: name, Value: c[name]})
	}
	return EncodeOps(ops)
}

// DecodeOps reads what EncodeOps and EncodeKeyframe write. The values share b.
func DecodeOps(b []byte) ([]checkpoint.Op, error) {
	if len(b) < headerLen {
		return nil, errShort
	}
	if b[0] != format {
		return nil, errFormat
	}
	if binary.LittleEndian.Uint32(b[1:]) != checksum(b) {
		return nil, errChecksum
	}
	var ops []checkpoint.Op
	for rest := b[headerLen:]; len(rest) > 0; {
		op := checkpoint.Op{Kind: checkpoint.OpKind(rest[0])}
		channel, rest2, err := field(rest[1:])
		if err != nil {
			return nil, err
		}
		value, rest3, err := field(rest2)
		if err != nil {
			return nil, err
		}
		op.Channel, op.Value, rest = string(channel), value, rest3
		ops = append(ops, op)
	}
	return ops, nil
}

// EncodeList writes JSON values one after the other, nil for none.
func EncodeList(list []json.RawMessage) []byte {
	var b []byte
	for _, raw := range list {
		b = appendField(b, raw)
	}
	return b
}

// DecodeList reads what EncodeList writes. The values share b.
func DecodeList(b []byte) ([]json.RawMessage, error) {
	var list []json.RawMessage
	for len(b) > 0 {
		f, rest, err := field(b)
		if err != nil {
			return nil, err
		}
		list, b = append(list, f), rest
	}
	return list, nil
}

func checksum(b []byte) uint32 {
	return crc32.Checksum(b[headerLen:], crc32.MakeTable(crc32.Castagnoli))
}

func appendField[T ~string | ~[]byte](b []byte, f T) []byte {
	b = binary.AppendUvarint(b, uint64(len(f)))
	return append(b, f...)
}

func field(b []byte) (f, rest []byte, err error) {
	n, used := binary.Uvarint(b)
	if used <= 0 || uint64(len(b)-used) < n {
		return nil, nil, errShort
	}
	end := used + int(n)
	return b[used:end:end], b[end:], nil
}

// record is a checkpoint without state and without what a backend keeps in columns of its own.
type record struct {
	Next       []string             `json:"next,omitempty"`
	Interrupts []interrupt          `json:"interrupts,omitempty"`
	Open       int                  `json:"open,omitempty"`
	Runs       []checkpoint.NodeRun `json:"runs,omitempty"`
	Decisions  []string             `json:"decisions,omitempty"`
	Error      *checkpoint.Failure  `json:"error,omitempty"`
	Origin     *checkpoint.Origin   `json:"origin,omitempty"`
	Outputs    verbatim             `json:"outputs,omitempty"`
	Shown      *shown               `json:"shown,omitempty"`
}

// shown is a checkpoint.Summary.
type shown struct {
	Phase        checkpoint.Status `json:"phase"`
	Title        string            `json:"title,omitempty"`
	Node         string            `json:"node,omitempty"`
	Questions    int               `json:"questions,omitempty"`
	Answered     int               `json:"answered,omitempty"`
	WaitingSince *time.Time        `json:"waiting,omitempty"`
	Due          *time.Time        `json:"due,omitempty"`
	Assignee     string            `json:"assignee,omitempty"`
	Group        string            `json:"group,omitempty"`
	Priority     string            `json:"priority,omitempty"`
	Error        string            `json:"error,omitempty"`
}

// interrupt shadows the fields that hold JSON from outside, which encoding/json would rewrite.
type interrupt struct {
	*checkpoint.Interrupt
	Payload  verbatim  `json:"payload,omitempty"`
	Previous *previous `json:"previous,omitempty"`
}

type previous struct {
	*checkpoint.Previous
	Content verbatim `json:"content,omitempty"`
}

// EncodeRecord writes the lists, the error, the origin and the outputs of c, and what the thread's row shows of it. At its
// end is a checksum, which covers the rest of c but for its revision, commit id and state, too: a record that was changed,
// or put beside another step, cannot be read.
func EncodeRecord(c *checkpoint.Checkpoint) ([]byte, error) {
	r := record{Next: c.Next, Open: c.Open, Runs: c.Runs, Decisions: c.Decisions, Error: c.Error, Origin: c.Origin,
		Outputs: verbatim(c.Outputs), Shown: (*shown)(c.Shown)}
	for i := range c.Interrupts {
		q := &c.Interrupts[i]
		shadow := interrupt{Interrupt: q, Payload: verbatim(q.Payload)}
		if q.Previous != nil {
			shadow.Previous = &previous{q.Previous, verbatim(q.Previous.Content)}
		}
		r.Interrupts = append(r.Interrupts, shadow)
	}
	b, err := json.Marshal(&r)
	if err != nil {
		return nil, err
	}
	return sealRecord(b, c), nil
}

// DecodeRecord reads what EncodeRecord writes into c, whose other fields but for revision, commit id and state are those
// that the record was written with. One of an earlier version has no checksum.
func DecodeRecord(b []byte, c *checkpoint.Checkpoint) error {
	var r record
	if err := checkRecord(b, c); err != nil {
		return err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return fmt.Errorf("the stored record: %w", err)
	}
	c.Next, c.Open, c.Runs, c.Decisions, c.Error, c.Origin = r.Next, r.Open, r.Runs, r.Decisions, r.Error, r.Origin
	c.Outputs, c.Shown = json.RawMessage(r.Outputs), (*checkpoint.Summary)(r.Shown)
	for _, shadow := range r.Interrupts {
		var q checkpoint.Interrupt
		if shadow.Interrupt != nil {
			q = *shadow.Interrupt
		}
		q.Payload = json.RawMessage(shadow.Payload)
		if shadow.Previous != nil {
			q.Previous = new(checkpoint.Previous)
			if shadow.Previous.Previous != nil {
				*q.Previous = *shadow.Previous.Previous
			}
			q.Previous.Content = json.RawMessage(shadow.Previous.Content)
		}
		c.Interrupts = append(c.Interrupts, q)
	}
	return nil
}
