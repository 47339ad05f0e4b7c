package checkpoint

import "fmt"

// Validate refuses a commit that no store can take, before anything is written.
func (c *Commit) Validate() error {
	cp := &c.Checkpoint
	switch {
	case cp.Thread == "":
		return fmt.Errorf("commit without a thread")
	case c.ID == "":
		return fmt.Errorf("commit on thread %s without an id", cp.Thread)
	case c.Parent < -1 || cp.Step <= c.Parent:
		return fmt.Errorf("commit on thread %s: step %d cannot follow step %d", cp.Thread, cp.Step, c.Parent)
	case c.Parent == -1 && c.NewThread == nil:
		return fmt.Errorf("commit on thread %s: the first of a thread needs NewThread", cp.Thread)
	case c.Parent >= 0 && (c.NewThread != nil || c.NewLease != nil):
		return fmt.Errorf("commit on thread %s: NewThread and NewLease are for the first commit", cp.Thread)
	case c.NewLease != nil && (c.NewLease.Token == "" || c.NewLease.Token != c.Lease || c.NewLease.TTL <= 0):
		return fmt.Errorf("commit on thread %s: the new lease needs a time to live and the commit's own token", cp.Thread)
	case c.Summary.Phase == "" || c.Summary.Phase == Running:
		return fmt.Errorf("commit on thread %s: phase %q", cp.Thread, c.Summary.Phase)
	}
	for i := range c.Ops {
		if err := c.Ops[i].validate(); err != nil {
			return fmt.Errorf("commit on thread %s, channel %q: %w", cp.Thread, c.Ops[i].Channel, err)
		}
	}
	return nil
}

func (op *Op) validate() error {
	switch op.Kind {
	case OpDelete:
		return nil
	case OpSet:
		if len(trimSpace(op.Value)) == 0 {
			return fmt.Errorf("set without a value")
		}
		return nil
	case OpAppend:
		_, err := unwrap(op.Value, '[', ']')
		return err
	case OpMerge:
		_, err := scanObject(op.Value)
		return err
	default:
		return fmt.Errorf("unknown operation %q", op.Kind)
	}
}

// Validate refuses a checkpoint that no store can take.
func (c *Checkpoint) Validate() error {
	if c.Thread == "" {
		return fmt.Errorf("checkpoint without a thread")
	}
	if c.Step < 0 {
		return fmt.Errorf("checkpoint of thread %s: step %d is below 0", c.Thread, c.Step)
	}
	if _, err := c.Questions(); err != nil {
		return fmt.Errorf("a checkpoint that contradicts itself: %w", err)
	}
	return nil
}

// HeadConflict is the conflict of a commit whose parent is not the head.
func (c *Commit) HeadConflict(head Version) error {
	return &ConflictError{Thread: c.Checkpoint.Thread, Step: c.Parent, Actual: head.Revision,
		Reason: fmt.Sprintf("step %d was to follow step %d, but the head is %s", c.Checkpoint.Step, c.Parent, head)}
}

// ExistsConflict is the conflict of a first commit on a thread that is there already.
func (c *Commit) ExistsConflict(head Version) error {
	return &ConflictError{Thread: c.Checkpoint.Thread, Step: c.Checkpoint.Step, Actual: head.Revision,
		Reason: fmt.Sprintf("it exists already, its head is %s", head)}
}

// AbsentConflict is the conflict of a write on a thread that is not there; deleted tells why.
func AbsentConflict(thread string, step int64, deleted bool) error {
	reason := "there is no such thread"
	if deleted {
		reason = "it was deleted; a deleted thread does not come back, use another id"
	}
	return &ConflictError{Thread: thread, Step: step, Reason: reason}
}

// ThreadNotFound is the ErrNotFound of a thread.
func ThreadNotFound(thread string) error { return fmt.Errorf("thread %s: %w", thread, ErrNotFound) }

// StepNotFound is the ErrNotFound of a step.
func StepNotFound(thread string, step int64) error {
	return fmt.Errorf("thread %s, step %d: %w", thread, step, ErrNotFound)
}

// NothingRuns is the ErrNotFound of a live lease.
func NothingRuns(thread string) error {
	return fmt.Errorf("thread %s does not run: a live lease is %w", thread, ErrNotFound)
}

// ResponseNotFound is the ErrNotFound of a response id.
func ResponseNotFound(thread, responseID string) error {
	return fmt.Errorf("response %q of thread %s: %w", responseID, thread, ErrNotFound)
}
