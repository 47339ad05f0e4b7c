package bridge

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

type source chan []desk.Event

func (s source) Subscribe(context.Context) <-chan []desk.Event { return s }

func TestBurstBecomesOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := make(source)
		go func() {
			for i := range 1000 {
				src <- []desk.Event{{Kind: desk.Progress, Step: int64(i)}}
			}
		}()
		msg := Listen(t.Context(), src)().(Batch)
		if len(msg.Events) != 1000 || msg.Events[999].Step != 999 {
			t.Fatalf("%d events", len(msg.Events))
		}
		go func() { src <- []desk.Event{{Kind: desk.Rested}} }()
		next := msg.Next()().(Batch)
		if len(next.Events) != 1 || next.Events[0].Kind != desk.Rested {
			t.Fatalf("after the burst: %+v", next.Events)
		}
		close(src)
		if _, ok := next.Next()().(Closed); !ok {
			t.Fatal("an ended subscription must say so")
		}
	})
}

func TestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		src := make(source)
		done := make(chan any)
		go func() { done <- Listen(ctx, src)() }()
		synctest.Wait()
		cancel()
		if _, ok := (<-done).(Closed); !ok {
			t.Fatal("not closed")
		}
	})
}

func TestLastEventsBeforeTheEndAreDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := make(source, 1)
		src <- []desk.Event{{Kind: desk.RunFailed}}
		close(src)
		b, ok := Listen(t.Context(), src)().(Batch)
		if !ok || b.Events[0].Kind != desk.RunFailed {
			t.Fatalf("%+v", b)
		}
	})
}
