package desk

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// conditionFunc is a condition in a test.
type conditionFunc func(Facts) (bool, error)

func (c conditionFunc) Holds(f Facts) (bool, error) { return c(f) }

func approveAll(name string) Rule {
	return Rule{Name: name, Action: actions.Approve, If: conditionFunc(func(Facts) (bool, error) { return true, nil })}
}

// attend runs the rules and hooks of a desk until the test ends.
func attend(t *testing.T, d *Desk) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.Attend(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
}

func TestRuleAnswersWhatWaitsAndWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		one := f.add("thread-1", 1)
		d := openDesk(t, f, Options{Rules: []Rule{approveAll("all")}})
		attend(t, d)
		wantStates(t, d, "q1 unsent")
		if e := d.Outbox()[0]; e.Decision.Reviewer != "rule:all" || e.SendAt.Sub(time.Now()) != 5*time.Second {
			t.Errorf("%+v", e)
		}
		two := f.add("thread-2", 1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, x := range []*fakeThread{one, two} {
			if len(x.answers) != 1 || x.answers[0].by != "rule:all" {
				t.Errorf("%s: %+v, want one answer of the rule", x.id, x.answers)
			}
		}
		if rules, on := d.Rules(); !on || rules[0].Answered != 2 || rules[0].Last.IsZero() {
			t.Errorf("%+v, %v", rules, on)
		}
	})
}

// What no rule may answer, whatever it says.
func TestRuleLeavesToPeople(t *testing.T) {
	for name, prepare := range map[string]func(f *fakeSource, d *Desk, x *fakeThread){
		"people only": func(_ *fakeSource, _ *Desk, x *fakeThread) { x.open[0].PeopleOnly = true },
		"not allowed": func(_ *fakeSource, _ *Desk, x *fakeThread) { x.open[0].Actions = []actions.Action{actions.Reject} },
		"claimed":     func(_ *fakeSource, d *Desk, x *fakeThread) { x.claimed = d.Reviewer() },
		"credential":  func(_ *fakeSource, _ *Desk, x *fakeThread) { x.open[0].Key = "secret" },
		"typed":       func(_ *fakeSource, d *Desk, x *fakeThread) { must(d.SaveDraft(typing(x, "hm"))) },
		"answered": func(_ *fakeSource, d *Desk, x *fakeThread) {
			must2(d.Respond(context.Background(), decide(x.id, "q1", "reject"), nil))
		},
		"switched off":   func(_ *fakeSource, d *Desk, _ *fakeThread) { must(d.SetRules(false)) },
		"read-only desk": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				x := f.add("thread-1", 1)
				d := openDesk(t, f, Options{Rules: []Rule{approveAll("all")}, ReadOnly: prepare == nil, Secret: func(q Question) bool { return q.Key == "secret" }})
				if prepare != nil {
					prepare(f, d, x)
				}
				attend(t, d)
				time.Sleep(time.Minute)
				synctest.Wait()
				for _, a := range x.answers {
					if strings.HasPrefix(a.by, "rule:") {
						t.Errorf("answered: %+v", x.answers)
					}
				}
			})
		})
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func must2[T any](_ T, err error) { must(err) }

func typing(x *fakeThread, text string) Draft {
	draft := NewDraft(x.open[0])
	draft.Thread, draft.Text = x.id, text
	return draft
}

func TestRuleTakenBackStaysWithPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, dir := newFake(), t.TempDir()
		x := f.add("thread-1", 1)
		options := Options{Rules: []Rule{approveAll("all")}, StateDir: dir, Reviewer: "ana"}
		d, beside := openDesk(t, f, options), openDesk(t, f, options)
		attend(t, d)
		attend(t, beside)
		wantStates(t, beside, "q1 unsent")
		if _, err := d.TakeBack(""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		later := openDesk(t, f, options)
		attend(t, later)
		f.runElsewhere("thread-1", false) // it changes, and is looked at again
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(x.answers) != 0 {
			t.Errorf("answered after it was taken back: %+v", x.answers)
		}
		if rules, _ := d.Rules(); rules[0].Answered != 0 || rules[0].TakenBack != 1 {
			t.Errorf("%+v", rules)
		}
	})
}

func TestTakeBackPrefersWhatAPersonDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 1)
		rule := approveAll("all")
		rule.If = conditionFunc(func(f Facts) (bool, error) { return f.Thread == "thread-2", nil })
		d := openDesk(t, f, Options{Rules: []Rule{rule}})
		attend(t, d)
		respond(t, d, decide("thread-1", "q1", "reject"), "")
		time.Sleep(time.Second)
		f.add("thread-2", 1)
		synctest.Wait()
		for _, want := range []string{"thread-1", "thread-2"} {
			e, err := d.TakeBack("")
			if err != nil || e.Decision.Thread != want {
				t.Fatalf("took back %+v, %v; want %s", e, err, want)
			}
		}
	})
}

// Two desks with the same rules, and a person between them: one answer each.
func TestRulesOfTwoDesksAnswerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		var threads []*fakeThread
		for _, id := range []string{"thread-1", "thread-2", "thread-3"} {
			threads = append(threads, f.add(id, 2))
		}
		a := openDesk(t, f, Options{Rules: []Rule{approveAll("all")}, Reviewer: "ana"})
		b := openDesk(t, f, Options{Rules: []Rule{approveAll("all")}, Reviewer: "bob"})
		attend(t, a)
		attend(t, b)
		time.Sleep(2 * time.Second)
		respond(t, b, decide("thread-2", "q1", "reject"), "")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		for _, x := range threads {
			asked := map[string]int{}
			for _, y := range x.answers {
				asked[y.question]++
			}
			if len(asked) != 2 || asked[x.id+"/q1"] != 1 || asked[x.id+"/q2"] != 1 {
				t.Errorf("%s: %+v", x.id, x.answers)
			}
		}
		for _, d := range []*Desk{a, b} {
			if i := slices.IndexFunc(d.Outbox(), func(e Entry) bool { return e.State == Refused && strings.HasPrefix(e.Decision.Reviewer, "rule:") }); i >= 0 {
				t.Errorf("a rule that came too late is told as a refusal: %+v", d.Outbox()[i])
			}
		}
	})
}

func TestRuleIsNotKeptWhenTheDeskEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, dir := newFake(), t.TempDir()
		x := f.add("thread-1", 1)
		d := openDesk(t, f, Options{Rules: []Rule{approveAll("all")}, StateDir: dir})
		attend(t, d)
		wantStates(t, d, "q1 unsent")
		if err := d.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		later := openDesk(t, f, Options{StateDir: dir})
		if len(later.Drafts()) != 0 || len(x.answers) != 0 {
			t.Errorf("drafts %v, answers %+v", later.Drafts(), x.answers)
		}
	})
}

func TestSwitchingRulesOffTakesBackWhatIsUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		x := f.add("thread-1", 1)
		d := openDesk(t, f, Options{Rules: []Rule{approveAll("all")}})
		attend(t, d)
		must(d.SetRules(false))
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, on := d.Rules(); on || len(x.answers) != 0 {
			t.Fatalf("on %v, answers %+v", on, x.answers)
		}
		must(d.SetRules(true))
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(x.answers) != 1 {
			t.Errorf("answers %+v after the rules were switched on again", x.answers)
		}
	})
}

func TestRuleThatCannotBeComputedIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 1)
		broken := Rule{Name: "broken", Action: actions.Reject, If: conditionFunc(func(Facts) (bool, error) { return true, errors.New("content.amount is null") })}
		slow := approveAll("slow")
		slow.Grace = time.Minute
		d := openDesk(t, f, Options{Rules: []Rule{broken, slow}})
		attend(t, d)
		rules, _ := d.Rules()
		if rules[0].Failed != 1 || rules[0].LastError != "content.amount is null" || rules[1].Answered != 1 {
			t.Errorf("%+v", rules)
		}
		if wait := time.Until(d.Outbox()[0].SendAt); wait != time.Minute {
			t.Errorf("can be taken back for %s, want the rule's minute", wait)
		}
	})
}

func TestManyRuledAnswersDoNotFloodTheOutbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		for i := range 200 {
			f.add("thread-"+string(rune('a'+i/26))+string(rune('a'+i%26)), 1)
		}
		d := openDesk(t, f, Options{Rules: []Rule{approveAll("all")}})
		attend(t, d)
		if n := d.ruled(); n != mostRuled {
			t.Errorf("%d answers wait, want %d", n, mostRuled)
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if rules, _ := d.Rules(); rules[0].Answered != 200 {
			t.Errorf("%+v", rules)
		}
	})
}

func TestNobodyIsCalledLikeARule(t *testing.T) {
	if _, err := New(newFake(), Options{Reviewer: "rule:x"}); Code(err) != CodeUsage {
		t.Errorf("%v", err)
	}
	f := newFake()
	f.add("thread-1", 1)
	d := openDesk(t, f, Options{})
	x := decide("thread-1", "q1", "approve")
	x.Reviewer = "rule:x"
	if _, err := d.Respond(t.Context(), x, nil); Code(err) != CodeUsage {
		t.Errorf("respond: %v", err)
	}
	if _, err := d.Answer(t.Context(), []Decision{x}, false); Code(err) != CodeUsage {
		t.Errorf("answer: %v", err)
	}
	if _, err := New(newFake(), Options{Rules: []Rule{approveAll("a"), approveAll("a")}}); err == nil {
		t.Error("two rules of one name")
	}
}

func TestHooksRunOnceForWhatAppears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("before-1", 1)
		var mu sync.Mutex
		var heard []string
		hook := Hook{Name: "tell", If: conditionFunc(func(f Facts) (bool, error) { return f.Question.Key == "q1", nil }),
			Run: func(_ context.Context, q Question) error {
				mu.Lock()
				defer mu.Unlock()
				heard = append(heard, q.ID)
				if q.Thread == "after-2" {
					return errors.New("exit status 1")
				}
				return nil
			}}
		d := openDesk(t, f, Options{Hooks: []Hook{hook}})
		events := d.Subscribe(t.Context())
		attend(t, d)
		for _, id := range []string{"after-1", "after-2"} {
			time.Sleep(time.Second)
			f.add(id, 2)
			synctest.Wait()
		}
		f.runElsewhere("after-1", false)
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []string{"after-1/q1", "after-2/q1"}; !slices.Equal(heard, want) {
			t.Errorf("heard of %v, want %v", heard, want)
		}
		for batch := range events {
			if slices.ContainsFunc(batch, func(e Event) bool { return e.Kind == HookFailed && strings.Contains(e.Text, "tell: exit status 1") }) {
				return
			}
		}
		t.Error("no word of the hook that failed")
	})
}

func TestResponseIDsOfRules(t *testing.T) {
	q := Question{ID: "q"}
	a, b := approveAll("a"), approveAll("b")
	c := a
	c.Data = json.RawMessage(`"why"`)
	if a.decision(q).ResponseID != approveAll("a").decision(q).ResponseID {
		t.Error("the same answer of two desks has two ids")
	}
	if a.decision(q).ResponseID == b.decision(q).ResponseID || a.decision(q).ResponseID == c.decision(q).ResponseID {
		t.Error("different answers have one id")
	}
}
