// Package bridge carries what the desk tells its watchers into the terminal program: one message a batch, and never
// more than one batch on its way. It reads no lists; what is true is read again by whoever hears the message.
package bridge

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Gap is the shortest time between two batches: View runs after every message, so a burst of engine events has to
// become few messages.
const Gap = 50 * time.Millisecond

// Batch is what happened since the batch before, in order.
type Batch struct {
	Events []desk.Event
	next   func() tea.Msg
}

// Closed says that the desk ended the subscription.
type Closed struct{}

// Subscriber is the part of the desk the bridge listens to.
type Subscriber interface {
	Subscribe(ctx context.Context) <-chan []desk.Event
}

// Listen subscribes, and yields the first batch. Each Batch has to be answered with its Next to hear the one after.
func Listen(ctx context.Context, s Subscriber) tea.Cmd {
	return func() tea.Msg {
		ch := s.Subscribe(ctx)
		return wait(ctx, ch)
	}
}

// Next waits for the batch after b.
func (b Batch) Next() tea.Cmd {
	if b.next == nil {
		return nil
	}
	return b.next
}

func wait(ctx context.Context, ch <-chan []desk.Event) tea.Msg {
	var events []desk.Event
	select {
	case <-ctx.Done():
		return Closed{}
	case got, ok := <-ch:
		if !ok {
			return Closed{}
		}
		events = got
	}
	gap := time.NewTimer(Gap)
	defer gap.Stop()
	for {
		select {
		case <-ctx.Done():
			return Closed{}
		case <-gap.C:
			return Batch{Events: events, next: func() tea.Msg { return wait(ctx, ch) }}
		case got, ok := <-ch:
			if !ok {
				return Batch{Events: events, next: func() tea.Msg { return Closed{} }}
			}
			events = append(events, got...)
		}
	}
}
