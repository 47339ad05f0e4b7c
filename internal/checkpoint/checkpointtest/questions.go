package checkpointtest

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// questionCases are about open questions: in channels, as the engine keeps them, and in the record, as others put them.
var questionCases = []testCase{
	{"those in channels are there at every step, through keyframes, prunes and transfers", func(f *fixture) {
		want := f.questioned("t", 60)
		f.askedAt(want, 0)
		_, err := f.store.Prune(f.ctx, checkpoint.PruneQuery{Threads: []string{"t"}, BeforeStep: 33})
		f.noErr(err)
		f.askedAt(want, 33)
		other := f.another()
		other.imported(f.exported("t"))
		other.askedAt(want, 33)
		f.equal(bytes.Equal(other.file("t"), f.file("t")), true)
	}},
	{"those in channels are listed, due and waiting as the commit says", func(f *fixture) {
		f.questioned("t", 9)
		info := f.thread("t")
		f.equal([]any{info.Questions, info.Title, info.Status}, []any{6, "question", checkpoint.Interrupted})
		f.equal(info.Due.Equal(f.clock.Now().Add(time.Hour)) && info.WaitingSince.Equal(f.clock.Now()), true)
	}},
	{"a put that lists them keeps its list", func(f *fixture) {
		c := full(f.clock.Now())
		c.Interrupts = append(c.Interrupts, checkpoint.Interrupt{ID: "q0", Payload: raw(`{ }`), Asked: f.clock.Now().Add(-time.Hour)})
		f.put(c)
		got := f.latest("t")
		all, err := got.Questions()
		f.noErr(err)
		f.equal(all, c.Interrupts)
		f.equal([]int{got.Open, got.Asks(), f.thread("t").Questions}, []int{0, 2, 2})
	}},
	{"a put that has them in channels is listed by them", func(f *fixture) {
		f.questioned("t", 9)
		c := *f.latest("t")
		all, err := c.Questions()
		f.noErr(err)
		c.Thread = "u"
		f.put(c)
		info := f.thread("u")
		f.equal([]any{info.Questions, info.Due.Equal(*all[0].Due), info.WaitingSince.Equal(all[0].Asked)}, []any{6, true, true})
		got, err := f.latest("u").Questions()
		f.noErr(err)
		f.equal(got, all)
		delete(c.Channels, all[1].Channel())
		c.Step++
		_, err = f.store.Put(f.ctx, c, nil)
		f.wantIs(err, checkpoint.ErrCorrupt)
		f.equal(f.steps("u"), []int64{9})
	}},
}

// questioned has a thread ask a question with each step but the first, call the latest overdue with each fifth and close the
// oldest with each third, and gives what is open at each.
func (f *fixture) questioned(thread string, last int64) [][]checkpoint.Interrupt {
	f.Helper()
	at, due := f.clock.Now(), f.clock.Now().Add(time.Hour)
	c := f.first(thread)
	f.commit(c)
	var open []checkpoint.Interrupt
	steps := [][]checkpoint.Interrupt{nil}
	for i := int64(1); i <= last; i++ {
		c = f.next(c)
		q := checkpoint.Interrupt{ID: fmt.Sprintf("q%03d", 999-i), Key: "<é>:" + fmt.Sprint(i), Node: "n", Path: "main@1/n@1", Asked: at, Due: &due, Place: int(i),
			Payload: raw("{ \"ask\":\t\"<b>&\\u00e9\" }"), Previous: &checkpoint.Previous{ID: "p", Action: "respond", Value: raw("[1, 2]"), Content: raw("\n1.0")}}
		open = append(slices.Clone(open), q)
		if i%5 == 0 {
			open[len(open)-1].Overdue = true
		}
		value, err := open[len(open)-1].Encode()
		f.noErr(err)
		c.Ops = append(c.Ops, checkpoint.Op{Kind: checkpoint.OpSet, Channel: q.Channel(), Value: value})
		if i%3 == 0 {
			c.Ops = append(c.Ops, checkpoint.Op{Kind: checkpoint.OpDelete, Channel: open[0].Channel()})
			open = open[1:]
		}
		first := open[0]
		first.Previous = nil
		c.Checkpoint.Interrupts, c.Checkpoint.Open, c.Release = []checkpoint.Interrupt{first}, len(open), i == last
		c.Summary = checkpoint.Summary{Phase: checkpoint.Interrupted, Title: "question", Questions: len(open), WaitingSince: &at, Due: &due}
		f.commit(c)
		steps = append(steps, open)
	}
	return steps
}

// askedAt checks what is open at every step from one on, by each way of reading, and that it is not part of the state.
func (f *fixture) askedAt(want [][]checkpoint.Interrupt, from int64) {
	f.Helper()
	ask := func(c *checkpoint.Checkpoint, err error) {
		f.Helper()
		f.noErr(err)
		got, err := c.Questions()
		f.noErr(err)
		f.equal(got, want[c.Step])
		f.equal(len(c.Channels.State()), 1)
	}
	step := from
	for c, err := range f.store.History(f.ctx, "t", true) {
		ask(c, err)
		f.equal(c.Step, step)
		ask(f.store.Get(f.ctx, "t", step))
		step++
	}
	f.equal(step, int64(len(want)))
	for c, err := range f.store.History(f.ctx, "t", false) {
		f.noErr(err)
		f.equal([]any{c.Asks(), c.Interrupted()}, []any{len(want[c.Step]), len(want[c.Step]) > 0})
		if len(want[c.Step]) > 0 {
			f.equal(c.Interrupts[0].ID, want[c.Step][0].ID)
		}
	}
	ask(f.store.Latest(f.ctx, "t"))
}
