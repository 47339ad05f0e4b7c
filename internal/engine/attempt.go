package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"
)

// performed is what one node run gave after its attempts in this step.
type performed struct {
	res      Result
	err      error
	failures int // attempts that failed, those of earlier steps included
	started  time.Time
	took     time.Duration
	finished bool // false: the context ended first, and the run is to be repeated

	inherited bool // another process got it
	kept      bool // it is in the store, unless that failed and ends the step
}

// attempts counts the attempts so far, the last one included.
func (p *performed) attempts() int {
	if p.err != nil {
		return max(p.failures, 1)
	}
	return p.failures + 1
}

// perform runs a node until it succeeds, its policy is exhausted, or ctx ends.
func (s *session) perform(ctx context.Context, r *run) (p performed) {
	o := &s.engine.o
	p.started, p.failures = o.Now(), r.failures
	call := s.call(r)
	for {
		call.Attempt = p.failures + 1
		s.event(r.event(Event{Type: NodeStarted, Attempt: call.Attempt, Status: statusRunning}))
		p.res, p.err = attempt(ctx, r.node, call)
		if ctx.Err() != nil && p.err != nil {
			return p
		}
		if p.err == nil {
			p.err = s.sleepInstead(ctx, &p.res)
		}
		if p.err == nil || ctx.Err() != nil {
			break
		}
		p.failures++
		if isPermanent(p.err) || p.failures >= max(r.node.Retry.MaxAttempts, 1) {
			break
		}
		s.keepFailures(ctx, r, p.failures)
		delay := r.node.Retry.pause(p.failures, p.err, o.Rand)
		s.event(r.event(Event{Type: FailedEv, Attempt: p.failures, Text: p.err.Error(), Retried: true, RetryMS: delay.Milliseconds()}))
		if err := o.Sleep(ctx, delay); err != nil {
			return p
		}
	}
	p.took = o.Now().Sub(p.started)
	p.finished = p.err == nil || ctx.Err() == nil
	return p
}

// sleepInstead waits out a timer in process where no store could keep it.
func (s *session) sleepInstead(ctx context.Context, res *Result) error {
	if s.engine.store != nil || res.WakeAt.IsZero() || len(res.Interrupts) > 0 {
		return nil
	}
	wake := res.WakeAt
	res.WakeAt = time.Time{}
	return s.engine.o.Sleep(ctx, wake.Sub(s.engine.o.Now()))
}

// attempt is one call of the runner: bounded in time, its panics failures.
func attempt(ctx context.Context, n *Node, call *Call) (res Result, err error) {
	if n.Timeout > 0 {
		var cancel context.CancelFunc
		late := fmt.Errorf("timed out after %s", n.Timeout)
		ctx, cancel = context.WithTimeoutCause(ctx, n.Timeout, late)
		defer cancel()
		defer func() { err = timedOut(ctx, err, late) }()
	}
	defer caught(&err)
	if n.nests() {
		return n.prepare(call.Scope)
	}
	return n.Runner.Run(ctx, call)
}

// timedOut makes late the reason of an error with which a runner ended after its time, and keeps what else it says: a
// program's last words, above all.
func timedOut(ctx context.Context, err, late error) error {
	switch {
	case err == nil || context.Cause(ctx) != late || errors.Is(err, late):
		return err
	case err == ctx.Err():
		return late
	}
	return fmt.Errorf("%w: %w", late, err)
}

// caught makes a panic of a workflow's own code, a runner, an output expression or a condition, a failure that no
// retry mends.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = Permanent(fmt.Errorf("panic: %v", p))
	}
}

func isPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// maxRetryAfter is the longest pause that a failure can ask for where the policy has no longer one: what a confused clock
// or a hostile server asks for must not hold a thread for days.
const maxRetryAfter = 10 * time.Minute

// pause is the time before the attempt that follows n failures, of which err was the last.
func (p RetryPolicy) pause(n int, err error, random func() float64) time.Duration {
	d := p.delay(n, random)
	var asked *retryAfterError
	if errors.As(err, &asked) {
		d = max(d, min(asked.after, max(maxRetryAfter, p.MaxDelay)))
	}
	return d
}

// delay is the time before the attempt that follows n failures: the initial delay, growing by the backoff up to the
// maximum, varied by the jitter.
func (p RetryPolicy) delay(n int, random func() float64) time.Duration {
	d := float64(p.InitialDelay)
	if p.Backoff > 0 {
		d *= math.Pow(p.Backoff, float64(n-1))
	}
	if p.MaxDelay > 0 {
		d = min(d, float64(p.MaxDelay))
	}
	if p.Jitter > 0 {
		d *= 1 + p.Jitter*(2*random()-1)
	}
	return time.Duration(min(max(d, 0), math.MaxInt64/2))
}

// call describes a run to its runner.
func (s *session) call(r *run) *Call {
	o := &s.engine.o
	c := &Call{
		Thread: s.tree.thread, Workflow: r.frame.graph.Name, Node: r.node.Name, Path: r.path,
		IdempotencyKey: idempotencyKey(s.tree.thread, r), Workdir: s.workdir, Scope: r.frame, Input: r.input,
		PriorOutput: r.output, Feedback: r.feedback, Discarded: r.discarded, Now: o.Now, Sleep: o.Sleep, Emit: discard,
	}
	if s.engine.out != nil {
		c.Emit = func(chunk []byte) {
			s.event(r.event(Event{Type: NodeOutput, Attempt: c.Attempt, Text: string(chunk)}))
		}
	}
	if r.node.RerunOnResume {
		c.Resume = r.given
		for _, a := range r.asks {
			c.PriorInterrupts = append(c.PriorInterrupts, a.Key)
		}
	}
	return c
}

func discard([]byte) {}

// idempotencyKey is the same for every repetition of a run that nobody decided anything about in between.
func idempotencyKey(thread string, r *run) string {
	b := make([]byte, 0, 192)
	b = append(append(b, thread...), 0)
	b = append(append(b, r.path...), 0)
	b = append(b, r.epoch...)
	sum := sha256.Sum256(b)
	var key [32]byte
	hex.Encode(key[:], sum[:16])
	return string(key[:])
}
