package ui

import (
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
)

func TestQuitAsksWhatBecomesOfTheUnsent(t *testing.T) {
	cases := []struct {
		name, key string
		ends      bool
		want      string
	}{
		{"send now", "s", true, "approve Delete backups?: sent"},
		{"keep as drafts", "d", true, "approve Delete backups?: taken back"},
		{"wait", "w", true, "approve Delete backups?: sent"},
		{"stay", "esc", false, "approve Delete backups?: unsent"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
				p.Keys("a", "q")
				p.Expect("1 answer is not sent yet", "send now", "keep as drafts")
				if p.Ended() {
					t.Fatal("it quit without asking")
				}
				p.Keys(c.key) // at once: a key asked for the dialog
				p.Advance(50 * time.Millisecond)
				if p.Ended() != c.ends {
					t.Errorf("ended: %v, want %v", !c.ends, c.ends)
				}
				wantOutbox(t, d, c.want)
			})
		})
	}
}

func TestQuitWaitsForARunAndEscStays(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		release := d.HoldRuns("t-purge-0001")
		p.Keys("a", "q")
		p.Advance(guard.SettleTime)
		p.Keys("w")
		p.Advance(time.Minute)
		if p.Ended() {
			t.Fatal("it did not wait for the run")
		}
		p.Keys("esc")
		release()
		p.Advance(time.Second)
		if p.Ended() {
			t.Fatal("Esc did not stay")
		}
		wantOutbox(t, d, "approve Delete backups?: sent")
	})
}

func TestSecondInterruptQuitsAndKeepsDrafts(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("a", "ctrl+c")
		p.Expect("1 answer is not sent yet")
		p.Keys("ctrl+c")
		if !p.Ended() {
			t.Fatalf("still there:\n%s", p.Screen())
		}
		wantOutbox(t, d, "approve Delete backups?: taken back")
	})
}

func TestQuitWithNothingUnsent(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("esc", "esc")
		if p.Ended() {
			t.Fatal("Esc quits")
		}
		p.Keys("q")
		if !p.Ended() {
			t.Errorf("q does not quit:\n%s", p.Screen())
		}
	})
}
