package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// feed numbers what happens in this process, keeps the latest and hands it to whoever watches. A watcher has no queue of
// its own but a place in the feed: however many there are and however slow, what is kept is bounded. Numbers begin anew with
// each process, so an id names the process, too.
type feed struct {
	life string // of this process

	mu     sync.Mutex
	events []desk.Event // a ring: number n is at n % len
	next   int64        // number of the next event, from 1
	moved  chan struct{}
	closed bool
	count  int // of watchers
}

func newFeed(life string, size int) *feed {
	return &feed{life: life, events: make([]desk.Event, size), next: 1, moved: make(chan struct{})}
}

// publish adds events. What is on its way in the outbox is of no interest here: HTTP has none.
func (f *feed) publish(batch []desk.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range batch {
		if e.Kind == desk.OutboxChanged {
			continue
		}
		f.events[f.next%int64(len(f.events))] = e
		f.next++
	}
	close(f.moved)
	f.moved = make(chan struct{})
}

// close ends the streams.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.moved)
		f.moved = make(chan struct{})
	}
}

// join counts a watcher until it leaves, and refuses one more than most.
func (f *feed) join(most int) (leave func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count >= most {
		return nil, busy("as many watch the events as may at once", most, "--max-watchers")
	}
	f.count++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.count--
	}, nil
}

// watchers counts the open streams.
func (f *feed) watchers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// id names the place after event n.
func (f *feed) id(n int64) string { return fmt.Sprintf("%s-%d", f.life, n) }

// place reads the id of the last event somebody saw; known is false for one that is not of this process, or not kept.
func (f *feed) place(id string) (next int64, known bool) {
	cut := strings.LastIndexByte(id, '-')
	life, number := id[:max(cut, 0)], id[cut+1:]
	n, err := strconv.ParseInt(number, 10, 64)
	f.mu.Lock()
	defer f.mu.Unlock()
	if life != f.life || err != nil || n < 0 || n >= f.next || n+1 < f.oldest() {
		return f.next, false
	}
	return n + 1, true
}

// oldest is the number of the oldest event that is kept. f.mu is held.
func (f *feed) oldest() int64 { return max(1, f.next-int64(len(f.events))) }

// glance is what a watcher gets to see at once.
type glance struct {
	events []desk.Event
	next   int64         // number of the first event after them
	lost   bool          // some before them are no longer kept
	moved  chan struct{} // closed when there is more
	closed bool
}

// mostAtOnce bounds what a watcher is given at once.
const mostAtOnce = 256

// from gives what is kept from number n on.
func (f *feed) from(n int64) glance {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := glance{moved: f.moved, closed: f.closed}
	if n < f.oldest() {
		g.next, g.lost = f.next, true
		return g
	}
	g.next = min(f.next, n+mostAtOnce)
	for ; n < g.next; n++ {
		g.events = append(g.events, f.events[n%int64(len(f.events))])
	}
	return g
}

// watch is GET /v1/events.
func watch(c *call) (reply, error) {
	last := c.r.Header.Get("Last-Event-ID")
	if last == "" {
		last = c.r.URL.Query().Get("last_event_id")
	}
	f := c.server.feed
	next, known := f.place(last)
	leave, err := f.join(c.server.o.Watchers)
	if err != nil {
		return reply{}, err
	}
	defer leave()
	header := c.w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("X-Accel-Buffering", "no")
	if c.r.Method == http.MethodHead {
		return reply{status: http.StatusOK}, nil
	}
	patiently(c.w)
	s := &stream{call: c, thread: c.r.URL.Query().Get("thread_id")}
	switch {
	case last == "":
		s.say(f.id(next-1), "ready", []byte("{}"))
	case !known:
		s.say(f.id(next-1), "reset", []byte("{}"))
	default:
		s.comment("resumed")
	}
	s.follow(next)
	return reply{}, nil
}

// stream is one watcher's connection.
type stream struct {
	call   *call
	thread string // the only one of interest, "" all
	buffer bytes.Buffer
	failed error
}

// follow writes what happens from number n on until the watcher leaves, takes nothing for too long, or the server ends.
func (s *stream) follow(n int64) {
	f := s.call.server.feed
	beat := time.NewTimer(s.call.server.o.Heartbeat)
	defer beat.Stop()
	for {
		g := f.from(n)
		if g.lost {
			s.say(f.id(g.next-1), "reset", []byte("{}"))
		}
		for i, e := range g.events {
			s.tell(n+int64(i), e)
		}
		n = g.next
		if s.flush(); s.failed != nil || g.closed {
			return
		}
		if len(g.events) == mostAtOnce {
			continue
		}
		select {
		case <-g.moved:
		case <-beat.C:
			s.comment("alive")
		case <-s.call.r.Context().Done():
			return
		}
		beat.Reset(s.call.server.o.Heartbeat)
	}
}

// tell writes one event, unless it is of another thread.
func (s *stream) tell(n int64, e desk.Event) {
	if s.thread != "" && e.Thread != "" && e.Thread != s.thread {
		return
	}
	data, err := json.Marshal(wire.FromEvent(s.call.desk.Event(e)))
	if err != nil {
		s.failed = err
		return
	}
	s.say(s.call.server.feed.id(n), string(e.Kind), data)
}

func (s *stream) say(id, kind string, data []byte) {
	fmt.Fprintf(&s.buffer, "id: %s\nevent: %s\ndata: %s\n\n", id, kind, data)
}

func (s *stream) comment(text string) { fmt.Fprintf(&s.buffer, ": %s\n\n", text) }

// flush sends what was written, within the time an answer may take.
func (s *stream) flush() {
	if s.buffer.Len() == 0 || s.failed != nil {
		return
	}
	s.call.server.writeWithin(s.call.w)
	_, err := s.call.w.Write(s.buffer.Bytes())
	if err == nil {
		err = http.NewResponseController(s.call.w).Flush()
	}
	s.failed = err
	s.buffer.Reset()
}
