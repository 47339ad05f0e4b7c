package checkpoint

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// Clone copies c whole: the copy shares nothing with it.
func (c *Checkpoint) Clone() *Checkpoint {
	d := *c
	d.TS = Micro(c.TS)
	d.Next = slices.Clone(c.Next)
	d.Decisions = slices.Clone(c.Decisions)
	d.Runs = slices.Clone(c.Runs)
	d.Interrupts = slices.Clone(c.Interrupts)
	for i := range d.Interrupts {
		q := &d.Interrupts[i]
		q.Payload = cloneRaw(q.Payload)
		q.Due = clonePtr(q.Due)
		if q.Previous = clonePtr(q.Previous); q.Previous != nil {
			q.Previous.Value, q.Previous.Content = cloneRaw(q.Previous.Value), cloneRaw(q.Previous.Content)
		}
	}
	d.Error, d.Origin = clonePtr(c.Error), clonePtr(c.Origin)
	d.Outputs = cloneRaw(c.Outputs)
	if c.Shown != nil {
		shown := c.Shown.Stored()
		d.Shown = &shown
	}
	d.Channels = c.Channels.Clone()
	return &d
}

// Clone copies c with its values.
func (c Channels) Clone() Channels {
	if c == nil {
		return nil
	}
	d := make(Channels, len(c))
	for name, value := range c {
		d[name] = cloneRaw(value)
	}
	return d
}

// Stored brings a summary to what a store keeps: times in microseconds, no pointer shared with the caller.
func (s Summary) Stored() Summary {
	s.WaitingSince, s.Due = microPtr(s.WaitingSince), microPtr(s.Due)
	return s
}

// Clone copies d with what it points to.
func (d *Decision) Clone() *Decision {
	e := *d
	e.Data = cloneRaw(d.Data)
	return &e
}

// CloneAll copies a list of JSON values.
func CloneAll(list []json.RawMessage) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i, raw := range list {
		out[i] = cloneRaw(raw)
	}
	return out
}

func cloneRaw(raw json.RawMessage) json.RawMessage { return bytes.Clone(raw) }

func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func microPtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	m := Micro(*t)
	return &m
}
