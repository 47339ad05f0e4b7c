package wake_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/wake"
)

// TestHubListensWhileSomebodyWatches counts who begins and ends to listen as watchers come and go.
func TestHubListensWhileSomebodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun, ended int
		h := wake.Hub{Listen: func() (func(), error) {
			begun++
			return func() { ended++ }, nil
		}}
		expect := func(wantBegun, wantEnded int) {
			t.Helper()
			synctest.Wait()
			if begun != wantBegun || ended != wantEnded {
				t.Fatalf("begun %d, ended %d; want %d, %d", begun, ended, wantBegun, wantEnded)
			}
		}
		one, endOne := context.WithCancel(t.Context())
		two, endTwo := context.WithCancel(t.Context())
		first, second := watch(t, &h, one), watch(t, &h, two)
		expect(1, 0)
		h.Wake()
		h.Wake()
		for _, ch := range []<-chan struct{}{first, second} {
			<-ch
			select {
			case <-ch:
				t.Fatal("two wake-ups were not made one")
			default:
			}
		}
		endOne()
		expect(1, 0)
		endTwo()
		expect(1, 1)
		if _, open := <-second; open {
			t.Fatal("the channel is open though its context has ended")
		}
		third := watch(t, &h, t.Context())
		expect(2, 1)
		h.Close()
		h.Close()
		expect(2, 2)
		if _, open := <-third; open {
			t.Fatal("the channel is open though the hub is closed")
		}
		if _, err := h.Watch(t.Context()); !errors.Is(err, checkpoint.ErrClosed) {
			t.Fatalf("a closed hub: %v", err)
		}
		h.Wake()
	})
}

func TestHubTellsThatItCannotListen(t *testing.T) {
	deaf := errors.New("deaf")
	h := wake.Hub{Listen: func() (func(), error) { return nil, deaf }}
	for range 2 {
		if _, err := h.Watch(t.Context()); !errors.Is(err, deaf) {
			t.Fatalf("error %v", err)
		}
	}
	h.Close()
}

func watch(t *testing.T, h *wake.Hub, ctx context.Context) <-chan struct{} {
	t.Helper()
	ch, err := h.Watch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}
