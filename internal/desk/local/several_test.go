package local_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// both asks two people side by side; what follows the first answer takes until a file is there.
const both = `workflow: both
nodes:
  begin: {set: {started: true}, then: [first, second]}
  first: {human: approval, title: First, message: One?, then: work}
  second: {human: approval, title: Second, message: Two?, then: last}
  work: {shell: "while ! test -e go; do sleep 0.02; done; echo done", output: worked, then: last}
  last: {set: {ended: true}, join: all}
`

func (b *bench) startBoth() (thread string, first, second desk.Question) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, "both.yaml"), []byte(both), 0o600); err != nil {
		b.t.Fatal(err)
	}
	r := b.start("both.yaml", nil)
	if len(r.Questions) != 2 {
		b.t.Fatalf("%d questions", len(r.Questions))
	}
	for _, q := range r.Questions {
		if q.Node == "first" {
			first = q
		} else {
			second = q
		}
	}
	return r.Thread, first, second
}

func (b *bench) letGo() {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) respond(d *desk.Desk, x desk.Decision) {
	b.t.Helper()
	if _, err := d.Respond(b.t.Context(), x, nil); err != nil {
		b.t.Fatal(err)
	}
}

func stateOf(d *desk.Desk, question string) desk.EntryState {
	for _, e := range d.Outbox() {
		if e.Decision.Question == question {
			return e.State
		}
	}
	return ""
}

func TestSecondAnswerIsHeldUntilTheRunRests(t *testing.T) {
	b := newBench(t)
	thread, first, second := b.startBoth()
	batches := b.desk.Subscribe(t.Context())
	b.respond(b.desk, decision(first, "approve", ""))
	b.await(batches, desk.Progress, thread, "work")
	b.respond(b.desk, decision(second, "approve", "")) // under the version on screen, which the run has left
	if got := stateOf(b.desk, second.ID); got != desk.Held {
		t.Errorf("second answer is %s, want held", got)
	}
	b.letGo()
	for b.detail(thread).Status != "done" {
		b.await(batches, desk.Rested, thread)
	}
	if got := stateOf(b.desk, second.ID); got != desk.Sent {
		t.Errorf("second answer is %s, want sent: %+v", got, b.desk.Outbox())
	}
}

func TestTwoAnswersGoInOneCall(t *testing.T) {
	b := newBench(t)
	thread, first, second := b.startBoth()
	b.letGo()
	b.open(desk.Options{Grace: time.Hour})
	b.respond(b.desk, decision(first, "approve", ""))
	b.respond(b.desk, decision(second, "approve", ""))
	batches := b.desk.Subscribe(t.Context())
	if err := b.desk.SendNow(""); err != nil {
		t.Fatal(err)
	}
	if e := b.await(batches, desk.Rested, thread); e.Status != "done" {
		t.Errorf("rested %+v", e)
	}
	steps, err := b.desk.History(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, s := range steps {
		most = max(most, len(s.Decisions))
	}
	if most != 2 {
		t.Errorf("at most %d decisions in a step, want both in one: %+v", most, steps)
	}
}

func TestAnswerWaitsForTheRunOfAnotherDesk(t *testing.T) {
	b := newBench(t)
	thread, first, second := b.startBoth()
	other := b.desk
	batches := other.Subscribe(t.Context())
	b.respond(other, decision(first, "approve", ""))
	b.await(batches, desk.Progress, thread, "work")
	b.open(desk.Options{}) // a second desk on the same store, as another process has it
	mine := b.desk.Subscribe(t.Context())
	now := b.detail(thread)
	if now.Status != "running" || len(now.Questions) != 1 || now.Questions[0].ID != second.ID {
		t.Fatalf("%s with %+v", now.Status, now.Questions)
	}
	late := decision(first, "reject", `"no"`)
	if _, err := b.desk.Respond(t.Context(), late, nil); desk.Code(err) != desk.CodeAlreadyAnswered {
		t.Errorf("an answer to what the other desk has answered: %v", err)
	}
	b.respond(b.desk, decision(now.Questions[0], "approve", ""))
	b.await(mine, desk.OutboxChanged, "")
	if got := stateOf(b.desk, second.ID); got != desk.Held && got != desk.Sending {
		t.Errorf("my answer is %s, want held", got)
	}
	b.letGo()
	deadline := time.Now().Add(20 * time.Second)
	for s := desk.Held; s != desk.Sent && s != desk.Refused; s = stateOf(b.desk, second.ID) {
		if time.Now().After(deadline) {
			t.Fatalf("outbox %+v", b.desk.Outbox())
		}
		<-mine
	}
	if got := stateOf(b.desk, second.ID); got != desk.Sent {
		t.Errorf("my answer is %s, want sent: %+v", got, b.desk.Outbox())
	}
	if got := b.detail(thread).Status; got != "done" {
		t.Errorf("the thread is %s", got)
	}
}
