package question

import (
	"encoding/json"
	"slices"
	"strings"
)

// interruptID is what LangGraph calls its interrupts: a hash of 128 bits.
func interruptID(s string) bool { return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == "" }

// readInterrupts reads LangGraph's own Interrupt around any payload: one, a list, what a run returns under
// __interrupt__, or the interrupts of a thread by task.
func readInterrupts(p payload) (asked, bool) {
	b := bundle{}
	o := p.object()
	items, named := p.objects(), false
	switch {
	case o.has("__interrupt__"):
		items, named = objectsIn(o.list("__interrupt__")), true
		b.context = o.rest()
	case o.has("interrupts"):
		tasks := o.object("interrupts")
		items = objectsIn(o.list("interrupts"))
		for _, task := range tasks.members {
			interrupts := newPayload(task.value)
			if interrupts.items == nil {
				return nil, false
			}
			items = append(items, objectsIn(interrupts.items)...)
		}
		b.context = o.rest()
	}
	ids := make([]string, len(items))
	for i, x := range items {
		id, ok := interruptOf(x, named)
		if !ok {
			return nil, false
		}
		ids[i] = id
		b.parts = append(b.parts, within(x.raw("value")))
	}
	if len(ids) == 0 || len(ids) > 1 && slices.Contains(ids, "") || hasTwice(ids) {
		return nil, false // no answer could name the one it is for
	}
	b.title = several(len(ids), "interrupts")
	b.join = func(answers []any) any {
		if ids[0] == "" {
			return answers[0]
		}
		return keyed(ids, answers)
	}
	return b, !b.secretAmongOthers()
}

// interruptOf is the id of an Interrupt, "" of one from before they had any. named tells that its place says what it is.
func interruptOf(o *object, named bool) (string, bool) {
	if !o.has("value") {
		return "", false
	}
	for _, m := range o.members {
		if !slices.Contains([]string{"value", "id", "interrupt_id", "ns", "resumable", "when"}, m.name) {
			return "", false
		}
	}
	id := o.text("id", "interrupt_id")
	if id == "" {
		return "", named && !o.has("id") || o.has("resumable") && o.has("ns")
	}
	return id, named || interruptID(id)
}

func objectsIn(raw []json.RawMessage) []*object {
	out := make([]*object, len(raw))
	for i, x := range raw {
		out[i] = objectIn(x)
	}
	return out
}

// keyed is an answer for each key.
func keyed(keys []string, answers []any) list {
	out := make(list, len(keys))
	for i, k := range keys {
		out[i] = entry{k, answers[i]}
	}
	return out
}

func hasTwice(keys []string) bool {
	sorted := slices.Sorted(slices.Values(keys))
	return len(slices.Compact(sorted)) < len(keys)
}
