package desk

import (
	"context"
	"sync"
	"time"
)

// courtesyClaim is for how long a thread is claimed while an answer is written.
const courtesyClaim = 5 * time.Minute

// courtesies are the claims that this desk made by itself, by thread.
type courtesies struct {
	mu sync.Mutex // held over calls of the source, too, so that no claim overtakes the release before it
	of map[string]*courtesy
}

// courtesy is a claim made while answers to questions of a thread are written.
type courtesy struct {
	until   time.Time       // as the source has it: a claim that ends at another moment was made on purpose
	writing map[string]bool // ids of the questions
}

// BeginWriting claims the thread of q for 5 minutes while an answer to it is written. The claim ends sooner when the
// answers are sent, or by EndWriting. One of somebody else is left alone, and the reviewer's own is at most made longer
// and never released by this. A source without claims is no error.
func (d *Desk) BeginWriting(ctx context.Context, q Question) error {
	claimer, ok := d.source.(Claimer)
	if !ok || d.o.ReadOnly {
		return nil
	}
	d.courtesies.mu.Lock()
	defer d.courtesies.mu.Unlock()
	by, until, err := d.claimOf(ctx, q.Thread)
	if err != nil || by != "" && by != d.o.Reviewer {
		return err
	}
	c := d.courtesies.of[q.Thread]
	purposely := by != "" && (c == nil || !c.until.Equal(until))
	if purposely {
		delete(d.courtesies.of, q.Thread)
		now, err := d.now(ctx)
		if err != nil || until.Sub(now) >= courtesyClaim {
			return err
		}
	}
	if err := claimer.Claim(ctx, q.Thread, d.o.Reviewer, courtesyClaim); err != nil || purposely {
		return err
	}
	by, until, err = d.claimOf(ctx, q.Thread)
	if err != nil || by != d.o.Reviewer {
		return err
	}
	if c == nil {
		c = &courtesy{writing: map[string]bool{}}
		d.courtesies.of[q.Thread] = c
	}
	c.until = until
	c.writing[q.ID] = true
	return nil
}

// EndWriting says that nothing is written about q any more, neither in a pane nor as a draft: the claim made by
// BeginWriting is released, unless another question of the thread is still written about.
func (d *Desk) EndWriting(ctx context.Context, q Question) error {
	return d.endWriting(ctx, q.Thread, q.ID)
}

func (d *Desk) endWriting(ctx context.Context, thread, question string) error {
	d.courtesies.mu.Lock()
	defer d.courtesies.mu.Unlock()
	c := d.courtesies.of[thread]
	if c == nil || !c.writing[question] {
		return nil
	}
	if delete(c.writing, question); len(c.writing) > 0 {
		return nil
	}
	delete(d.courtesies.of, thread)
	by, until, err := d.claimOf(ctx, thread)
	if err != nil || by != d.o.Reviewer || !until.Equal(c.until) {
		return err
	}
	return d.source.(Claimer).Release(ctx, thread, d.o.Reviewer)
}

// claimOf is who has claimed a thread, and until when. A thread that is gone is claimed by nobody.
func (d *Desk) claimOf(ctx context.Context, thread string) (by string, until time.Time, err error) {
	detail, err := d.source.Open(ctx, thread)
	if err != nil {
		if Code(err) == CodeNotFound {
			err = nil
		}
		return "", time.Time{}, err
	}
	now, err := d.now(ctx)
	if err != nil || !detail.ClaimedUntil.After(now) {
		return "", time.Time{}, err
	}
	return detail.Claimed, detail.ClaimedUntil, nil
}

// endSent gives up the courtesy claims for the answers of a run that were sent. What was refused is a draft now, and its
// claim goes on as its pane's did.
func (d *Desk) endSent(r *run) {
	d.mu.Lock()
	var sent []Decision
	for _, e := range r.entries {
		if e.State == Sent {
			sent = append(sent, e.Decision)
		}
	}
	d.mu.Unlock()
	for _, x := range sent {
		if err := d.endWriting(context.WithoutCancel(d.ctx), x.Thread, x.Question); err != nil {
			d.o.Log.Warn("claim not released after its answer", "thread", x.Thread, "error", err)
		}
	}
}
