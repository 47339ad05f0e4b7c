package redis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// The fields of a thread's hash.
const (
	fieldWrite   = "write"
	fieldSeq     = "seq"
	fieldRow     = "row"
	fieldAnswers = "answers"
)

// head is a thread's row as stored, which does not depend on the time.
type head struct {
	info    checkpoint.ThreadInfo // without status, lease and claim
	lease   checkpoint.LeaseState
	claim   checkpoint.Claim
	frames  codec.Frames
	results int64 // pending results written since the last step
	answers int   // len(lease.Answers), which a listing does not read
	stored  totals

	present bool
	deleted bool      // a tombstone is there
	write   string    // id of the last write
	buried  string    // id of the write that left the tombstone
	now     time.Time // the store's time at which it was read
}

// tell names what the row holds. The lease's answers are a field of their own.
func (h *head) tell(p *packer) {
	t := &h.info
	p.number(&t.Step)
	p.number(&t.Revision)
	p.text((*string)(&t.Phase))
	p.text(&t.Title)
	p.text(&t.Node)
	p.count(&t.Questions)
	p.count(&t.Answered)
	p.timeOrNil(&t.WaitingSince)
	p.timeOrNil(&t.Due)
	p.text(&t.Assignee)
	p.text(&t.Group)
	p.text(&t.Priority)
	p.text(&t.Error)
	p.text(&t.Workflow)
	p.text(&t.Fingerprint)
	p.text(&t.Workdir)
	p.text(&t.StartedBy)
	p.time(&t.Created)
	p.time(&t.Updated)
	p.number(&t.Decisions)
	p.text(&t.DecisionHash)
	h.tellOrigin(p)
	p.text(&h.claim.Reviewer)
	p.time(&h.claim.Until)
	p.text(&h.lease.Token)
	p.text(&h.lease.Holder)
	p.time(&h.lease.Until)
	p.count(&h.lease.Own)
	p.flag(&h.lease.Cancel)
	p.text(&h.lease.CancelledBy)
	p.count(&h.answers)
	p.number(&h.results)
	p.number(&h.frames.Base)
	p.number(&h.frames.BaseSize)
	p.number(&h.frames.Steps)
	p.number(&h.frames.Size)
	p.number(&h.stored.steps)
	p.number(&h.stored.bytes)
}

// totals are what is stored of steps: how many, and the bytes of their records and states.
type totals struct{ steps, bytes int64 }

func (h *head) tellOrigin(p *packer) {
	var origin checkpoint.Origin
	if h.info.Origin != nil {
		origin = *h.info.Origin
	}
	p.text(&origin.Thread)
	p.number(&origin.Step)
	if h.info.Origin = nil; origin.Thread != "" {
		h.info.Origin = &origin
	}
}

// view is the row as of now, for those who list.
func (h *head) view(now time.Time) checkpoint.ThreadInfo {
	info := h.info
	live := h.lease.Live(now)
	info.Status = checkpoint.EffectiveStatus(info.Phase, live, h.answers)
	if info.Lease = h.lease.Info(now); info.Lease == nil && h.answers > 0 {
		info.Lease = new(checkpoint.LeaseInfo)
	}
	if info.Lease != nil {
		info.Lease.Answers = h.answers
	}
	if h.claim.Reviewer != "" && now.Before(h.claim.Until) {
		claim := h.claim
		info.Claim = &claim
	}
	return info
}

func (h *head) chain() checkpoint.Chain {
	return checkpoint.Chain{Count: h.info.Decisions, Last: h.info.DecisionHash}
}

// read fills h from the row and its change number.
func (h *head) read(thread, row string, seq int64) error {
	if err := unpack(row, h.tell); err != nil {
		return &checkpoint.CorruptError{Thread: thread, Where: "field row of its hash", Err: err}
	}
	h.info.Thread, h.info.Seq = thread, seq
	return nil
}

// head reads all that a write is conditional on.
func (s *Store) head(ctx context.Context, thread string) (*head, error) {
	var stored struct {
		Write   *string `redis:"write"`
		Seq     int64   `redis:"seq"`
		Row     string  `redis:"row"`
		Answers string  `redis:"answers"`
	}
	var fields *redis.SliceCmd
	var buried *redis.SliceCmd
	var now func() time.Time
	err := s.patiently(ctx, func() error {
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			fields = p.HMGet(ctx, s.keys.thread(thread), fieldWrite, fieldSeq, fieldRow, fieldAnswers)
			buried = p.HMGet(ctx, s.keys.tombstones(), thread)
			now = s.clock(ctx, p)
			return nil
		})
		return err
	})
	if err == nil {
		err = fields.Scan(&stored)
	}
	if err != nil {
		return nil, err
	}
	h := &head{now: now()}
	h.info.Thread, h.info.Step = thread, -1
	if tombstone := buried.Val()[0]; tombstone != nil {
		h.deleted = true
		if err := unpack(text(tombstone), tellTombstone(new(checkpoint.Tombstone), &h.buried)); err != nil {
			return nil, &checkpoint.CorruptError{Thread: thread, Where: "its tombstone", Err: err}
		}
	}
	if stored.Write == nil {
		return h, nil
	}
	h.present, h.write = true, *stored.Write
	if err := h.read(thread, stored.Row, stored.Seq); err != nil {
		return nil, err
	}
	if h.lease.Answers, err = codec.DecodeList([]byte(stored.Answers)); err != nil {
		return nil, &checkpoint.CorruptError{Thread: thread, Step: h.info.Step, Where: "field answers of its hash", Err: err}
	}
	return h, nil
}
