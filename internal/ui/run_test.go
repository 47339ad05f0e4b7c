package ui

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// When its context ends the desk ends, says why, and leaves nothing running: no clock, no wait for events.
func TestRunEndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	in, feed := io.Pipe()
	defer feed.Close()
	why := errors.New("terminated")
	shown := make(chan struct{})
	d := world(t)
	err := make(chan error, 1)
	go func() {
		err <- Run(ctx, d, Options{Input: in, Output: &first{shown: shown}, Env: []string{"TERM=xterm", "NO_COLOR=1"},
			Program: []tea.ProgramOption{tea.WithWindowSize(80, 24), tea.WithoutSignalHandler()}})
	}()
	<-shown
	cancel(why)
	select {
	case got := <-err:
		if !errors.Is(got, why) {
			t.Errorf("error %v, want %v", got, why)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it does not end")
	}
	feed.Close()
}

// first tells when something is written for the first time.
type first struct {
	shown chan struct{}
	done  bool
}

func (f *first) Write(b []byte) (int, error) {
	if !f.done {
		f.done = true
		close(f.shown)
	}
	return len(b), nil
}

// Options of a mistaken configuration do not keep the desk from opening; they are among the messages.
func TestMistakesInTheOptionsAreReported(t *testing.T) {
	d := desktest.New(t)
	m := New(t.Context(), d, Options{Theme: "nosuch", Keys: map[string]map[string][]string{"review": {"aprove": {"ctrl+a"}}}})
	if m.unseen != 2 {
		t.Fatalf("%d messages: %+v", m.unseen, m.log)
	}
}
