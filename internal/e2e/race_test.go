//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// TestOneOfManyAnswersWins lets processes answer one question differently at once: one is taken, every other is
// refused and told who won, and only the winner's program runs.
func TestOneOfManyAnswersWins(t *testing.T) { everyStore(t, oneOfManyAnswersWins) }

func oneOfManyAnswersWins(t *testing.T, w *world) {
	const racers = 6
	var options []string
	for i := range racers {
		options = append(options, fmt.Sprintf("r%d", i))
	}
	file := w.file("race.yaml", `workflow: race
input: {properties: {log: {type: string}}, required: [log]}
output: {pick: pick}
env: {LOG: "{{.log}}"}
nodes:
  ask: {human: choice, message: Who?, options: [`+strings.Join(options, ", ")+`], output: pick, then: act}
  act: {shell: 'echo "$HITL_THREAD $PICK" >> "$LOG"; sleep 0.3', env: {PICK: "{{.pick}}"}}
`)
	for round := range 2 {
		thread := fmt.Sprintf("thread-%d", round)
		w.must(0, "run", file, "-F", "log="+w.lines, "--thread", thread, "--json")
		var all []*process
		for _, option := range options {
			all = append(all, w.start(nil, "resume", thread, "choose", "-d", `"`+option+`"`, "--reviewer", "by-"+option, "--json"))
		}
		winner := ""
		var lost []result
		for i, p := range all {
			switch r := p.wait(); r.exit {
			case 0:
				if winner != "" {
					t.Errorf("%s and %s both won", winner, options[i])
				}
				winner = options[i]
				if got := output(t, r.envelope(t), "pick"); got != winner {
					t.Errorf("%s won with the answer %q", winner, got)
				}
			case 4:
				lost = append(lost, r)
			default:
				t.Errorf("neither won nor lost: %s", r)
			}
		}
		if winner == "" {
			t.Fatal("nobody won")
		}
		for _, r := range lost {
			told := r.envelope(t)
			if told.Error.Details["by"] != "by-"+winner {
				t.Errorf("by-%s won, a loser was told: %+v", winner, told.Error)
			}
		}
		if got, want := w.written(), thread+" "+winner; got[want] != 1 || len(got) != round+1 {
			t.Errorf("programs ran: %v, want one line %q a round", got, want)
		}
		if rows := w.decisions(thread); len(rows) != 1 || *rows[0].Reviewer != "by-"+winner {
			t.Errorf("the record of %s is %+v", thread, rows)
		}
	}
	w.sound()
}

// output is one output of a finished thread, a text.
func output(t *testing.T, e wire.Envelope, name string) string {
	t.Helper()
	var all map[string]json.RawMessage
	var text string
	if err := json.Unmarshal(e.Outputs, &all); err != nil {
		t.Fatalf("outputs %s: %v", e.Outputs, err)
	}
	if err := json.Unmarshal(all[name], &text); err != nil {
		t.Fatalf("output %s of %s: %v", name, e.Outputs, err)
	}
	return text
}

// TestDeletingAndPruningBesideResumes deletes and prunes threads while they are answered: each is either finished with
// its head and its record, or gone whole with its program never begun twice; never a half of it.
func TestDeletingAndPruningBesideResumes(t *testing.T) {
	everyStore(t, deletingAndPruningBesideResumes)
}

func deletingAndPruningBesideResumes(t *testing.T, w *world) {
	file := w.copyOf("batch.yaml")
	for i := range 4 {
		w.must(0, "run", file, "-F", "log="+w.lines, "-F", "pace=0.1", "--thread", fmt.Sprintf("thread-%d", i), "--json")
	}
	var answers, deletes, prunes []*process
	for i := range 4 {
		thread := fmt.Sprintf("thread-%d", i)
		answers = append(answers, w.start(nil, "resume", thread, "approve", "--json"))
		deletes = append(deletes, w.start(nil, "delete", thread, "--yes"))
		prunes = append(prunes, w.start(nil, "prune", "--all", "--before-step", "9", "--yes", "--json"))
	}
	for i := range 4 {
		thread := fmt.Sprintf("thread-%d", i)
		answered, deleted, pruned := answers[i].wait(), deletes[i].wait(), prunes[i].wait()
		if pruned.exit != 0 {
			t.Errorf("pruning failed: %s", pruned)
		}
		gone := w.run("show", thread, "--json").exit == 3
		switch {
		case answered.exit == 0 && deleted.exit == 4 && !gone: // it ran and could not be deleted
			if e := answered.envelope(t); e.Interrupts[0].Address != "sign" {
				t.Errorf("%s: came to rest at %+v", thread, e.Interrupts)
			}
			if rows := w.decisions(thread); len(rows) != 1 {
				t.Errorf("%s: the record is %+v", thread, rows)
			}
		case answered.exit == 0 && deleted.exit == 0 && gone: // it was deleted once it rested
		case (answered.exit == 3 || answered.exit == 4) && deleted.exit == 0 && gone: // it was deleted before
			if n := w.written()[thread+" work@1"]; n != 0 {
				t.Errorf("%s was deleted and its program ran", thread)
			}
		default:
			t.Errorf("%s: gone is %t after\n%s%s", thread, gone, answered, deleted)
		}
	}
	w.sound()
}

// TestRepeatedAnswerIsApplied once, however many processes send it at once: a response id makes a repeat harmless.
func TestRepeatedAnswerIsAppliedOnce(t *testing.T) { everyStore(t, repeatedAnswerIsAppliedOnce) }

func repeatedAnswerIsAppliedOnce(t *testing.T, w *world) {
	w.must(0, "run", w.copyOf("batch.yaml"), "-F", "log="+w.lines, "--thread", "thread-1", "--json")
	var all []*process
	for range 4 {
		all = append(all, w.start(nil, "resume", "thread-1", "approve", "--response-id", "one", "--json"))
	}
	applied := 0
	for _, p := range all {
		r := p.wait()
		if r.exit != 0 {
			t.Errorf("a repeat of the same response failed: %s", r)
			continue
		}
		if !r.envelope(t).AlreadyApplied {
			applied++
		}
	}
	if rows := w.decisions("thread-1"); applied != 1 || len(rows) != 1 {
		t.Errorf("%d processes applied it, the record is %+v", applied, rows)
	}
	if n := w.written()["thread-1 work@1"]; n != 1 {
		t.Errorf("work ran %d times", n)
	}
	w.sound()
}
