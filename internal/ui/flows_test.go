package ui

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
)

// settle is longer than the time in which no key decides.
const settle = 400 * time.Millisecond

// flow runs the whole program on an emulated terminal of 80x24, in virtual time, and waits until it may decide.
func flow(t *testing.T, do func(t *testing.T, d *desktest.Desk, p *tuitest.Program)) {
	t.Helper()
	flowOf(t, func(*desktest.Desk) {}, do)
}

// flowOf is flow in a world that more was added to.
func flowOf(t *testing.T, add func(*desktest.Desk), do func(t *testing.T, d *desktest.Desk, p *tuitest.Program)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := world(t)
		add(d)
		p := tuitest.Run(t, New(t.Context(), d, Options{StateDir: t.TempDir()}), 80, 24)
		defer func() {
			if _, err := p.Stop(); err != nil {
				t.Errorf("the program ended with: %v", err)
			}
		}()
		p.Advance(settle)
		do(t, d, p)
	})
}

// outbox is every entry as "action title state".
func outbox(d *desktest.Desk) []string {
	var out []string
	for _, e := range d.Outbox() {
		out = append(out, e.Decision.Action+" "+e.Decision.Title+": "+string(e.State))
	}
	return out
}

func wantOutbox(t *testing.T, d *desktest.Desk, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, outbox(d)); diff != "" {
		t.Errorf("outbox (-want +got):\n%s", diff)
	}
}

func TestApproveIsOneKeyAndGoesOn(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Expect("Delete backups?", "OVER 1h", "a approve>publish")
		p.Keys("a")
		p.Expect("approved: Delete backups?, sends in 5 s  u take back", "> Publish these")
		wantOutbox(t, d, "approve Delete backups?: unsent")
		p.Advance(3 * time.Second)
		p.Expect("sends in 2 s")
		p.Advance(3 * time.Second)
		wantOutbox(t, d, "approve Delete backups?: sent")
		if strings.Contains(p.Screen(), "sends in") {
			t.Errorf("the countdown stays after the end of the grace time:\n%s", p.Screen())
		}
	})
}

func TestTakeBackReselectsTheQuestion(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("a")
		p.Advance(settle)
		p.Keys("a")
		p.Advance(settle)
		p.Expect("> @ Pay invoice", "u take back (2)")
		p.Keys("u")
		p.Expect("> Publish these")
		p.Keys("u")
		p.Expect("> ! Delete backups?", "taken back: approve of Delete backups?")
		wantOutbox(t, d, "approve Delete backups?: taken back", "approve Publish these notes?: taken back")
		p.Advance(time.Minute)
		wantOutbox(t, d, "approve Delete backups?: taken back", "approve Publish these notes?: taken back")
	})
}

func TestRejectWithReason(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "r")
		p.Expect("REJECT", "END (rejected)")
		p.Type("a u q, names a customer")
		p.Keys("ctrl+s")
		p.Expect("rejected: Publish these notes?")
		wantOutbox(t, d, "reject Publish these notes?: unsent")
		if got := string(d.Outbox()[0].Decision.Data); got != `"a u q, names a customer"` {
			t.Errorf("data %s", got)
		}
	})
}

func TestEditThenApprove(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "e")
		p.Expect("EDIT, then publish", "bytes left")
		p.Type("Hello. ")
		p.Keys("ctrl+s")
		wantOutbox(t, d, "edit Publish these notes?: unsent")
		if got := string(d.Outbox()[0].Decision.Data); !strings.HasPrefix(got, `{"edited":"Hello. ## Changes`) {
			t.Errorf("data %s", got)
		}
		p.Keys("k")
		p.Advance(settle)
		p.Expect("your edit", "+ Hello. ## Changes", "edited here, not sent yet")
	})
}

func TestChooseIsTwoKeys(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "j", "j", "j")
		p.Expect("> ", "Which headline?", "2  A calm release")
		p.Keys("c")
		p.Expect("sends at once")
		p.Keys("enter", "space") // neither decides
		wantOutbox(t, d)
		p.Keys("2")
		wantOutbox(t, d, "choose Which headline?: unsent")
		if got := string(d.Outbox()[0].Decision.Data); got != `"calm"` {
			t.Errorf("data %s", got)
		}
	})
}

// TestEnterTwiceChooses: Enter picks and goes to [Send], where it decides; held down it decides nothing and the list stays.
func TestEnterTwiceChooses(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "j", "j", "j", "c", "down")
		for range 20 {
			p.Keys("enter")
			p.Advance(30 * time.Millisecond)
		}
		wantOutbox(t, d)
		p.Expect("(x) A calm release", "enter is held: it decides once")
		p.Advance(2 * settle)
		p.Keys("enter")
		wantOutbox(t, d, "choose Which headline?: unsent")
		if got := string(d.Outbox()[0].Decision.Data); got != `"calm"` {
			t.Errorf("data %s", got)
		}
	})
}

func TestHeldKeyDecidesOnce(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("a")
		p.Advance(500 * time.Millisecond) // the keyboard waits, then repeats every 30 ms
		for range 20 {
			p.Keys("a")
			p.Advance(30 * time.Millisecond)
		}
		wantOutbox(t, d, "approve Delete backups?: unsent", "approve Publish these notes?: taken back")
		p.Expect("is held: it decides once")
	})
}

func TestTwoPressesWithin80ms(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("a")
		p.Advance(70 * time.Millisecond)
		p.Keys("a")
		wantOutbox(t, d, "approve Delete backups?: unsent")
		p.Expect("a is held: it decides once")
	})
}

func TestNothingWithin300msOfTheSelectionMovingByItself(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("a")
		p.Advance(200 * time.Millisecond)
		p.Keys("a")
		wantOutbox(t, d, "approve Delete backups?: unsent")
		p.Expect("dropped: the question changed just now")
	})
}

func TestAMoveThatLedNowhereExcusesNoLaterChange(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("k") // at the top already
		p.Keys("a")
		p.Advance(200 * time.Millisecond)
		p.Keys("a")
		wantOutbox(t, d, "approve Delete backups?: unsent")
		p.Expect("dropped: the question changed just now")
	})
}

// TestAQuestionThatComesByItselfIsNotDecided: the selected thread asks anew while a key is on its way.
func TestAQuestionThatComesByItselfIsNotDecided(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("space", "k", "k")
		p.Advance(settle)
		d.Ask("t-purge-0001", "q-purge-2", "Delete more backups?")
		p.Advance(rereadGap + 50*time.Millisecond)
		p.Expect("Delete more backups?")
		p.Keys("a")
		wantOutbox(t, d)
		p.Expect("dropped: the question changed just now")
	})
}

func TestAnsweredElsewhereWhileWriting(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "r")
		p.Type("no, because")
		d.Elsewhere("t-notes-7f3k", actions.Approve, "bob")
		p.Advance(12 * time.Second)
		p.Expect("bob approved this", "Your text is kept", "no, because")
		p.Keys("ctrl+s")
		wantOutbox(t, d)
		p.Keys("esc")
		p.Expect("v Publish these", ">")
		if got := d.Draft(desk.Question{ID: "q-notes"}); got == nil || got.Text != "no, because" {
			t.Errorf("draft: %+v", got)
		}
	})
}

func TestConflictAfterTheGraceTime(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("a")
		p.Advance(time.Second)
		d.Elsewhere("t-purge-0001", actions.Reject, "bob")
		p.Advance(6 * time.Second)
		wantOutbox(t, d, "approve Delete backups?: refused")
		p.Expect("bob answered this (reject)")
		p.Keys("!")
		p.Expect("Messages", "bob answered this (reject)", "your text is kept")
	})
}

func TestRowsOfOthersStayDimAndNeverMoveTheSelection(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "j")
		d.Elsewhere("t-pick-0002", actions.Choose, "bob")
		early := desk.Thread{ID: "t-new-9999", Workflow: "ops", Node: "purge", Due: d.Now().Add(-2 * time.Hour), WaitingSince: d.Now()}
		d.Add(desk.Detail{Thread: early, Questions: []desk.Question{{Address: "purge", Question: actions.Question{Kind: actions.Approval, Title: "Newest of all"}}}})
		d.Wake(desk.Event{Kind: desk.StoreChanged, Thread: "t-new-9999"})
		p.Advance(time.Second)
		p.Expect("v Which headline?", "chosen by bob", "> @ Pay invoice 88-1")
		p.Keys("g")
		p.Expect("> ! Newest of all")
		p.Keys("R")
		if s := p.Screen(); strings.Contains(s, "Which headline?") {
			t.Errorf("R keeps what was decided:\n%s", s)
		}
	})
}

func TestDraftIsKeptAsTypedAndOffered(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "t")
		p.Type("shorter")
		p.Advance(time.Second)
		if got := d.Draft(desk.Question{ID: "q-notes"}); got == nil || got.Text != "shorter" {
			t.Fatalf("not on disk as typed: %+v", got)
		}
		p.Keys("esc")
		p.Advance(settle)
		p.Expect("~ draft of retry kept", "~ Publish these")
		p.Keys("t")
		p.Expect("shorter")
		wantOutbox(t, d)
	})
}

// TestCursorOfATreeIsSeenWithoutColour: what is selected is marked in the text too.
func TestCursorOfATreeIsSeenWithoutColour(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "j", "j", "j", "j")
		p.Expect("> - {} 3 keys")
		p.Keys("tab", "j", "j")
		p.Expect(">   - rules: [] 2 items")
	})
}

func TestHintsNameTheReviewersOwnKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := world(t)
		keys := keymap.Overrides{"review": {"approve": {"ctrl+a"}, "claim": {"ctrl+g"}}}
		p := tuitest.Run(t, New(t.Context(), d, Options{Keys: keys}), 160, 50)
		defer p.Stop()
		p.Advance(settle)
		p.Expect("^A  approve", "unclaimed   ^G claims it", "^A approve>")
		p.Keys("E")
		p.Expect("allowed: ^A approve")
	})
}

func TestRowsDecidedGoWhenTheTabIsLeft(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j")
		d.Elsewhere("t-purge-0001", actions.Approve, "bob")
		p.Advance(settle)
		p.Expect("Delete backups?", "approved by bob")
		p.Keys("7")
		p.Advance(settle)
		p.Keys("1")
		p.Advance(settle)
		if strings.Contains(p.Screen(), "Delete backups?") {
			t.Errorf("a row decided elsewhere stays after its tab was left:\n%s", p.Screen())
		}
	})
}

func TestPasteIsNeverKeys(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Paste("aaoSqX")
		p.Advance(settle)
		wantOutbox(t, d)
		if p.Ended() {
			t.Fatal("a pasted q quits")
		}
		p.Keys("j", "r")
		p.Paste("two\rlines\x1b[2J")
		p.Expect("two", "lines")
		wantOutbox(t, d)
	})
}

func TestMarkedAreAnsweredTogetherAndTakenBackTogether(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("k", "space", "G", "k", "k", "space", "space", "space", "A")
		p.Expect("4 marked threads ask 4 questions", "a   approve     4 of 4 allow it", "S   skip        3 of 4 allow it")
		p.Advance(settle)
		p.Keys("S")
		p.Expect("skip 3?", "3 questions are answered", "1 of the marked is left out and")
		wantOutbox(t, d)
		p.Keys("y")
		p.Expect("skipped: 3 questions, sends in 5 s  u take back")
		if strings.Contains(p.Screen(), "take back (") {
			t.Errorf("a bulk counts as several:\n%s", p.Screen())
		}
		if got := len(d.Outbox()); got != 3 {
			t.Errorf("%d entries", got)
		}
		p.Keys("u")
		p.Expect("taken back: skip of Approve claim", "and 2 more")
		for _, e := range d.Outbox() {
			if e.State != desk.TakenBack {
				t.Errorf("%s of a bulk that was taken back is %s", e.Decision.Title, e.State)
			}
		}
	})
}

func TestMarkedWhoseContentDiffersAreAnsweredOneByOne(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("A")
		p.Expect("nothing is marked: Space marks")
		p.Keys("space", "G", "V", "A")
		p.Expect("9 marked threads ask 10 questions", "of the marked were never opened here")
		p.Keys("esc", "M", "g")
		p.Keys("j", "space", "A")
		p.Expect("r   reject", "1 of 1 allow it")
		if strings.Contains(p.Screen(), "edit      ") {
			t.Errorf("edit is offered for many, whose content differs:\n%s", p.Screen())
		}
	})
}

// A conversation is read as one: nothing of what is said is cut, and what it is for stands first below it.
func TestConversationIsReadWhole(t *testing.T) {
	d := desktest.New(t)
	d.Add(desk.Detail{Thread: desk.Thread{ID: "t-talk-0001", Workflow: "support", Node: "chat"}, Questions: []desk.Question{{ID: "q-talk", Address: "chat", ResumesNow: true,
		Question: actions.Question{Kind: actions.Conversation, Title: "Ms Ito", Content: json.RawMessage(
			`[{"role":"customer","text":"Where is my parcel, which was due on Monday and which I need before the weekend, PLEASE?"}]`)}}}})
	synctest.Test(t, func(t *testing.T) {
		l := start(t, d, 80, 24)
		screen := tuitest.Layout(l.View())
		for _, want := range []string{"customer", "PLEASE?", "p reply>", "E end>"} {
			if !strings.Contains(screen, want) {
				t.Errorf("%q is not drawn:\n%s", want, screen)
			}
		}
	})
}

func TestClaimOfAnotherIsAskedAbout(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "j", "s")
		p.Expect("bob", "has claimed this")
		p.Keys("n")
		p.Expect("Pay invoice 88-1")
		p.Keys("s", "y")
		p.Expect("SUBMIT", "amount")
		p.Type("12")
		p.Keys("ctrl+s")
		wantOutbox(t, d, "submit Pay invoice 88-1: unsent")
		x := d.Outbox()[0].Decision
		if string(x.Data) != `{"amount":12}` || !x.Steal {
			t.Errorf("data %s, steal %v", x.Data, x.Steal)
		}
	})
}

func TestSeveralQuestionsOfAThread(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("j", "j", "j")
		p.Expect("Restart db-1?", "q1/2", "resumes with this and 1 more")
		p.Keys("a")
		p.Expect("q2/2", "Restart db-2?")
		p.Keys(",")
		p.Expect("q1/2", "approved here, not sent yet")
		p.Keys(".")
		p.Advance(settle)
		p.Keys("a")
		wantOutbox(t, d, "approve Restart db-1?: unsent", "approve Restart db-2?: unsent")
		p.Expect("Which headline?")
	})
}

// carriesOn answers the question that carrying a thread on asks first.
func carriesOn(t *testing.T, d *desktest.Desk, p *tuitest.Program, title string) {
	t.Helper()
	p.Expect("Carry on with " + strings.TrimSuffix(title, "?") + "?")
	if d.Calls("CarryOn") != 0 {
		t.Error("carried on without asking")
	}
	p.Keys("y")
	p.Advance(settle)
	if d.Calls("CarryOn") != 1 {
		t.Errorf("not carried on after y:\n%s", p.Screen())
	}
}

// TestWhatFailedBesideAQuestionIsShownAndCarriedOn at the smallest size: in the list, at the question, in the footer.
func TestWhatFailedBesideAQuestionIsShownAndCarriedOn(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		x := desk.Thread{ID: "t-both-0020", Workflow: "par", Node: "ask", WaitingSince: d.Now().Add(-time.Minute), Updated: d.Now(),
			Due: d.Now().Add(-2 * time.Hour), Error: "exit code 1"}
		d.Add(desk.Detail{Thread: x, Failure: "exit code 1: no such host", FailedNode: "bad", Questions: []desk.Question{{
			ID: "q-both", Address: "ask", Asked: x.WaitingSince, ResumesNow: true, ShownHash: "ab",
			Question: actions.Question{Kind: actions.Approval, Title: "Ship it?", Message: "Well?", Actions: []actions.Action{actions.Approve, actions.Reject}}}}})
		d.Wake(desk.Event{Kind: desk.StoreChanged, Thread: x.ID})
		p.Advance(settle)
		p.Keys("g", "g")
		p.Advance(settle)
		p.Expect("x Ship it?", "! bad failed: exit code 1", "O carry on")
		p.Keys("O")
		carriesOn(t, d, p, "Ship it?")
	})
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("O")
		p.Advance(settle)
		p.Expect("nothing failed there")
		if d.Calls("CarryOn") != 0 {
			t.Error("carried on where nothing failed")
		}
	})
}

func TestFailureStaysUntilSeen(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		d.Wake(desk.Event{Kind: desk.RunFailed, Thread: "t-fail-0010", Node: "tag", Text: "exit status 128", At: d.Now()})
		p.Advance(time.Minute)
		p.Expect("! tag failed: exit status 128")
		p.Keys("z", "z", "W")
		p.Expect("! 1: tag failed: exit status 128")
		p.Keys("3")
		p.Advance(settle)
		p.Expect("Publish 1.7", "tag 'v1.7' already exists", "o carry on")
		if strings.Contains(p.Screen(), "tag failed: exit") {
			t.Errorf("seen, and still counted:\n%s", p.Screen())
		}
		p.Keys("o")
		carriesOn(t, d, p, "Publish 1.7")
	})
}

// What nothing stands beside gets the whole room, and large content says that it is not rendered.
func TestBoundsHaveTheRoomOfTheirForm(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("7")
		p.Advance(settle)
		p.Keys("b")
		p.Expect("BOUNDS", "older than", "before step", "status")
		if strings.Contains(p.Screen(), "question  empty") {
			t.Errorf("an empty question takes a third of the form:\n%s", p.Screen())
		}
	})
}

func TestLargeContentSaysThatItIsRaw(t *testing.T) {
	d := desktest.New(t)
	d.Add(desk.Detail{Thread: desk.Thread{ID: "t-big-0001", Workflow: "big", Node: "review"}, Questions: []desk.Question{{ID: "q-big", Address: "review", ResumesNow: true,
		Question: actions.Question{Kind: actions.Approval, Title: "Big", Content: text(strings.Repeat("# head\n", 60_000)), ContentType: "markdown"}}}})
	synctest.Test(t, func(t *testing.T) {
		l := start(t, d, 80, 24)
		if screen := tuitest.Layout(l.View()); !strings.Contains(screen, "raw: over") {
			t.Errorf("raw content is called rendered:\n%s", screen)
		}
	})
}
