package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// A record ends in this field, the CRC-32C of all that stands before it and of what the backend keeps of the checkpoint in
// columns of its own.
const (
	sealName  = `"sum":"`
	sealKind  = `crc32c:`
	sealBegin = sealName + sealKind
	sealLen   = len(sealBegin) + 8 + len(`"}`)
)

var errRecordSum = errors.New("the stored record, or a column beside it, does not match its checksum: it was changed")

// sealRecord puts the checksum at the end of a record, which is a JSON object.
func sealRecord(b []byte, c *checkpoint.Checkpoint) []byte {
	b = b[:len(b)-1]
	if len(b) > 1 {
		b = append(b, ',')
	}
	return fmt.Appendf(b, sealBegin+`%08x"}`, recordSum(b, c))
}

// checkRecord refuses a record whose checksum is another, or is not where it was written. One without is of an earlier
// version, or no record at all.
func checkRecord(b []byte, c *checkpoint.Checkpoint) error {
	at := len(b) - sealLen
	if at <= 0 {
		return nil
	}
	// Of a field that was changed in one place the other part is still there.
	end := b[at:]
	if !bytes.HasPrefix(end, []byte(sealName)) && !bytes.HasPrefix(end[len(sealName):], []byte(sealKind)) && !bytes.Contains(b, []byte(sealBegin)) {
		return nil
	}
	var room [sealLen]byte
	if !bytes.Equal(fmt.Appendf(room[:0], sealBegin+`%08x"}`, recordSum(b[:at], c)), end) {
		return errRecordSum
	}
	return nil
}

func recordSum(record []byte, c *checkpoint.Checkpoint) uint32 {
	var room [256]byte
	head := appendField(room[:0], c.Thread)
	head = binary.AppendVarint(head, c.Step)
	head = binary.AppendVarint(head, checkpoint.ToMicros(c.TS))
	for _, text := range []string{string(c.Source), string(c.Ended), c.Workflow, c.Fingerprint} {
		head = appendField(head, text)
	}
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(head, table), table, record)
}
