package checkpoint

// EffectiveStatus is the status a thread shows: its phase as of the head, unless it has not ended and runs (live
// lease) or an accepted answer waits for somebody to apply it.
func EffectiveStatus(phase Status, live bool, unapplied int) Status {
	switch {
	case phase.Ended():
		return phase
	case live:
		return Running
	case unapplied > 0:
		return Stalled
	default:
		return phase
	}
}

// Phases lists every value a Summary's Phase can have.
func Phases() []Status {
	return []Status{Interrupted, Stalled, Failed, Sleeping, Done, Rejected, Stopped, Cancelled}
}

// SummaryOf derives a thread's summary from its head alone, for a checkpoint that comes by Put, without an engine.
func SummaryOf(c *Checkpoint) Summary {
	questions, err := c.Questions()
	if err != nil { // Validate has refused it
		questions = c.Interrupts
	}
	s := Summary{Phase: phaseOf(c), Node: c.InterruptNode(), Questions: c.Asks()}
	if s.Node == "" && len(c.Next) > 0 {
		s.Node = c.Next[0]
	}
	if c.Error != nil {
		s.Error = c.Error.Message
		if s.Node == "" {
			s.Node = c.Error.Node
		}
	}
	for i := range questions {
		asked, due := questions[i].Asked, questions[i].Due
		if !asked.IsZero() && (s.WaitingSince == nil || asked.Before(*s.WaitingSince)) {
			s.WaitingSince = &asked
		}
		if due != nil && (s.Due == nil || due.Before(*s.Due)) {
			s.Due = due
		}
	}
	return s
}

func phaseOf(c *Checkpoint) Status {
	switch {
	case c.Ended != "":
		return c.Ended
	case c.Error != nil && !c.Interrupted():
		return Failed
	case c.Interrupted():
		return Interrupted
	case len(c.Next) > 0:
		return Stalled
	default:
		return Done
	}
}
