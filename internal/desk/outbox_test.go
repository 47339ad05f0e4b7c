package desk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestDecisionWaitsForItsGraceTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 1)
		d := openDesk(t, f, Options{})
		e := respond(t, d, decide("thread-1", "q1", "approve"), "")
		if want := time.Now().Add(5 * time.Second); !e.SendAt.Equal(want) || e.State != Unsent {
			t.Errorf("entry %s at %v, want unsent at %v", e.State, e.SendAt, want)
		}
		time.Sleep(5*time.Second - time.Millisecond)
		synctest.Wait()
		wantStates(t, d, "q1 unsent")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		wantStates(t, d, "q1 sent")
		if out := d.Outbox()[0]; out.Result == nil || out.Result.Status != "done" {
			t.Errorf("result %+v, want done", out.Result)
		}
	})
}

func TestAnswersOfAThreadGoTogetherWhenTheYoungestIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		thread := f.add("thread-1", 3)
		d := openDesk(t, f, Options{})
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		time.Sleep(3 * time.Second)
		respond(t, d, decide("thread-1", "q2", "approve"), "")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		wantStates(t, d, "q1 unsent, q2 unsent")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		wantStates(t, d, "q1 sent, q2 sent")
		if thread.step != 2 {
			t.Errorf("%d steps, want the two answers in one", thread.step-1)
		}
	})
}

func TestTakeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 2)
		d := openDesk(t, f, Options{StateDir: t.TempDir()})
		respond(t, d, decide("thread-1", "q1", "reject"), "first text")
		respond(t, d, decide("thread-1", "q2", "reject"), "second text")
		for _, want := range []string{"second text", "first text"} {
			e, err := d.TakeBack("")
			if err != nil || e.Draft.Text != want {
				t.Fatalf("TakeBack = %+v, %v; want %q", e, err, want)
			}
			if kept := d.Draft(Question{Thread: "thread-1", ID: e.Decision.Question}); kept == nil || kept.Text != want {
				t.Errorf("draft after taking back: %+v, want %q", kept, want)
			}
		}
		if _, err := d.TakeBack(""); Code(err) != CodeNotFound {
			t.Errorf("TakeBack of nothing: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(f.accepted) > 0 {
			t.Errorf("sent %v after it was taken back", f.accepted)
		}
	})
}

func TestSentCannotBeTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.gate = make(chan struct{})
		f.add("thread-1", 1)
		d := openDesk(t, f, Options{})
		e := respond(t, d, decide("thread-1", "q1", "approve"), "")
		if err := d.SendNow(""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := d.TakeBack(e.ID); Code(err) != CodeConflict {
			t.Errorf("TakeBack of a sent entry: %v", err)
		}
		f.gate <- struct{}{}
	})
}

func TestSecondAnswerReplacesTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		thread := f.add("thread-1", 1)
		d := openDesk(t, f, Options{})
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		respond(t, d, decide("thread-1", "q1", "reject"), "no")
		wantStates(t, d, "q1 unsent")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if len(thread.answers) != 1 || thread.answers[0].action != "reject" {
			t.Errorf("answers %v, want the second only", thread.answers)
		}
	})
}

func TestQueuedAnswerCanStillBeReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.gate = make(chan struct{})
		f.add("thread-1", 1)
		thread := f.add("thread-2", 2)
		d := openDesk(t, f, Options{Runners: 1, Grace: -1})
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		respond(t, d, decide("thread-2", "q1", "approve"), "")
		synctest.Wait()
		wantStates(t, d, "q1 sending, q1 queued")
		respond(t, d, decide("thread-2", "q1", "reject"), "no")
		close(f.gate)
		synctest.Wait()
		wantStates(t, d, "q1 sent, q1 sent")
		if len(thread.answers) != 1 || thread.answers[0].action != "reject" {
			t.Errorf("answers %v, want the second only", thread.answers)
		}
	})
}

func TestAnswerIsHeldWhileItsThreadRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.gate = make(chan struct{})
		thread := f.add("thread-1", 3)
		d := openDesk(t, f, Options{})
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		respond(t, d, decide("thread-1", "q2", "approve"), "") // given under 1.1, which the run is about to leave
		time.Sleep(5 * time.Second)
		synctest.Wait()
		wantStates(t, d, "q1 sending, q2 held")
		f.gate <- struct{}{}
		synctest.Wait()
		wantStates(t, d, "q1 sent, q2 sending")
		f.gate <- struct{}{}
		synctest.Wait()
		wantStates(t, d, "q1 sent, q2 sent")
		if len(thread.answers) != 2 {
			t.Errorf("answers %v", thread.answers)
		}
	})
}

func TestHeldAnswerIsRefusedWhereItsQuestionChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.gate = make(chan struct{})
		thread := f.add("thread-1", 2)
		d := openDesk(t, f, Options{})
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		respond(t, d, decide("thread-1", "q2", "approve"), "looks good")
		f.mu.Lock()
		thread.open[0].ShownHash = "other content"
		f.mu.Unlock()
		f.gate <- struct{}{}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		wantStates(t, d, "q1 sent, q2 refused")
		if kept := d.Draft(Question{Thread: "thread-1", ID: "thread-1/q2"}); kept == nil || kept.Text != "looks good" || !kept.NotSent {
			t.Errorf("draft %+v, want the text, not sent", kept)
		}
	})
}

func TestAnswerIsHeldWhileAnotherProcessRunsTheThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 1)
		d := openDesk(t, f, Options{})
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		f.runElsewhere("thread-1", true)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		wantStates(t, d, "q1 held")
		f.runElsewhere("thread-1", false)
		synctest.Wait()
		wantStates(t, d, "q1 sent")
	})
}

func TestConflictTellsWhoDidWhatAndKeepsTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 1)
		d := openDesk(t, f, Options{StateDir: t.TempDir()})
		respond(t, d, decide("thread-1", "q1", "reject"), "my reason")
		f.byOthers("thread-1", "thread-1/q1", "approve", "bob")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		e := d.Outbox()[0]
		if e.State != Refused || e.Code != CodeConflict || e.Err != "bob approved this 12 s ago; your text is kept" {
			t.Errorf("entry %s %s %q", e.State, e.Code, e.Err)
		}
		if kept := d.Draft(Question{Thread: "thread-1", ID: "thread-1/q1"}); kept == nil || kept.Text != "my reason" {
			t.Errorf("draft %+v, want the text", kept)
		}
	})
}

func TestDeadlineWithinTheGraceTimeSendsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		thread := f.add("thread-1", 2)
		thread.open[0].Due = time.Now().Add(4 * time.Second)
		d := openDesk(t, f, Options{})
		respond(t, d, decide("thread-1", "q2", "approve"), "")
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		synctest.Wait()
		wantStates(t, d, "q1 sent, q2 unsent")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		wantStates(t, d, "q1 sent, q2 sent")
	})
}

// TestOverdueAnswerCanBeTakenBack: once its time is over a question waits for a person like any other, unless a default may
// answer it at any moment.
func TestOverdueAnswerCanBeTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		thread := f.add("thread-1", 2)
		thread.open[0].Due = time.Now().Add(-time.Hour)
		thread.open[1].Due, thread.open[1].DefaultAction = time.Now().Add(-time.Hour), "reject"
		d := openDesk(t, f, Options{})
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		respond(t, d, decide("thread-1", "q2", "approve"), "")
		synctest.Wait()
		wantStates(t, d, "q2 sent, q1 unsent")
	})
}

func TestEightRunAtOnceAndTheRestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.gate = make(chan struct{})
		d := openDesk(t, f, Options{})
		for i := range 11 {
			id := fmt.Sprintf("thread-%02d", i)
			f.add(id, 1)
			respond(t, d, decide(id, "q1", "approve"), "")
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := strings.Count(states(d), "sending"); got != 8 {
			t.Errorf("%d sending, want 8 (%s)", got, states(d))
		}
		if got := strings.Count(states(d), "queued"); got != 3 {
			t.Errorf("%d queued, want 3 (%s)", got, states(d))
		}
		if unsent, running := d.Busy(); unsent != 0 || running != 11 {
			t.Errorf("Busy = %d, %d; want 0, 11", unsent, running)
		}
		for range 11 {
			f.gate <- struct{}{}
		}
		synctest.Wait()
		if got := strings.Count(states(d), "sent"); got != 11 || f.most != 8 {
			t.Errorf("%d sent, at most %d at once; want 11 and 8", got, f.most)
		}
	})
}

func TestCancelledRunBringsTheQuestionBackWithItsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.gate = make(chan struct{})
		thread := f.add("thread-1", 1)
		d := openDesk(t, f, Options{})
		respond(t, d, decide("thread-1", "q1", "reject"), "my reason")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if err := d.CancelRun(t.Context(), "thread-1"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		e := d.Outbox()[0]
		if e.State != Refused || e.Code != CodeCancelled || len(thread.open) != 1 {
			t.Errorf("entry %s %s, %d open", e.State, e.Code, len(thread.open))
		}
		if kept := d.Draft(thread.open[0]); kept == nil || kept.Text != "my reason" {
			t.Errorf("draft %+v, want the text", kept)
		}
	})
}

func TestBulkIsTakenBackAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		d := openDesk(t, f, Options{})
		var all []Decision
		for i := range 3 {
			id := fmt.Sprintf("thread-%d", i)
			f.add(id, 1)
			all = append(all, decide(id, "q1", "approve"))
		}
		all[1].Action = "skip"
		entries, errs := d.RespondAll(t.Context(), all, nil)
		if entries[0] == nil || entries[2] == nil || Code(errs[1]) != CodeActionNotAllowed {
			t.Fatalf("RespondAll = %v, %v", entries, errs)
		}
		if _, err := d.TakeBack(""); err != nil {
			t.Fatal(err)
		}
		wantStates(t, d, "")
	})
}

func TestRefusalLeavesNothingBehind(t *testing.T) {
	f := newFake()
	f.add("thread-1", 1)
	d := openDesk(t, f, Options{StateDir: t.TempDir()})
	for _, x := range []Decision{
		decide("thread-1", "q1", "skip"), decide("thread-1", "q9", "approve"), decide("nothing", "q1", "approve"),
		{Thread: "thread-1", Question: "thread-1/q1", Action: "approve", Version: "7.1"},
	} {
		if _, err := d.Respond(t.Context(), x, nil); err == nil {
			t.Errorf("%v was taken", x)
		}
	}
	wantStates(t, d, "")
}

func TestNothingUnsentIsSentAfterACrash(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		thread := f.add("thread-1", 2)
		crashed, err := New(f, Options{StateDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		respond(t, crashed, decide("thread-1", "q1", "reject"), "my reason")
		x := decide("thread-1", "q2", "approve")
		x.Data = json.RawMessage(`{"comment": "fine"}`)
		respond(t, crashed, x, "")
		crash(crashed)

		d := openDesk(t, f, Options{StateDir: dir})
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(f.accepted) > 0 {
			t.Errorf("sent %v", f.accepted)
		}
		want := map[string]Draft{
			"thread-1/q1": {Action: "reject", Text: "my reason"},
			"thread-1/q2": {Action: "approve", Text: `{"comment": "fine"}`, Raw: true},
		}
		for _, q := range thread.open {
			got := d.Draft(q)
			if got == nil || !got.NotSent || got.Action != want[q.ID].Action || got.Text != want[q.ID].Text || got.Raw != want[q.ID].Raw {
				t.Errorf("draft of %s: %+v", q.ID, got)
			}
		}
		third := openDesk(t, f, Options{StateDir: dir})
		if len(third.Drafts()) != 1 {
			t.Errorf("drafts %v, want those of thread-1", third.Drafts())
		}
	})
}

func TestOutboxOfALivingDeskIsLeftAlone(t *testing.T) {
	f := newFake()
	f.add("thread-1", 1)
	dir := t.TempDir()
	first := openDesk(t, f, Options{StateDir: dir})
	respond(t, first, decide("thread-1", "q1", "reject"), "my reason")
	second := openDesk(t, f, Options{StateDir: dir})
	if len(second.Drafts()) != 0 {
		t.Errorf("the second desk took %v", second.Drafts())
	}
	wantStates(t, first, "q1 unsent")
}

// crash ends a desk as a kill does: timers, runs and locks go, nothing more is written.
func crash(d *Desk) {
	d.mu.Lock()
	d.closed = true
	d.outbox.disarm()
	if d.files.lock != nil {
		d.files.lock.release()
	}
	d.files = &files{}
	d.runs.cancelAll(ErrShutdown)
	d.mu.Unlock()
	d.cancel(ErrClosed)
	d.runs.wait()
	d.tasks.Wait()
}

// TestBulkGivesItsTextBack: what was typed for many is a draft of each when the bulk is taken back, also in a later desk.
func TestBulkGivesItsTextBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, dir := newFake(), t.TempDir()
		d := openDesk(t, f, Options{StateDir: dir})
		var all []Decision
		for i := range 3 {
			f.add(fmt.Sprintf("thread-%d", i), 1)
			x := decide(fmt.Sprintf("thread-%d", i), "q1", "reject")
			x.Data = json.RawMessage(`"over budget"`)
			all = append(all, x)
		}
		if _, errs := d.RespondAll(t.Context(), all, &Draft{Question: "bulk", Action: "reject", Text: "over budget"}); errs[0] != nil {
			t.Fatal(errs[0])
		}
		if _, err := d.TakeBack(""); err != nil {
			t.Fatal(err)
		}
		for _, d := range []*Desk{d, openDesk(t, f, Options{StateDir: dir})} {
			for i := range 3 {
				q := f.threads[fmt.Sprintf("thread-%d", i)].open[0]
				if x := d.Draft(q); x == nil || x.Text != "over budget" || x.Action != "reject" || x.Thread != q.Thread {
					t.Errorf("draft of %s: %+v", q.Thread, x)
				}
			}
		}
	})
}
