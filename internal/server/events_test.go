package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/server"
)

// stream is a watcher.
type stream struct {
	resp  *http.Response
	in    *bufio.Reader
	leave context.CancelFunc
}

// told is one event.
type told struct {
	id, kind string
	event    wire.Event
	comment  string
}

func (w *world) watch(token, path string, headers ...string) *stream {
	w.t.Helper()
	ctx, leave := context.WithCancel(w.t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", w.url+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { leave(); resp.Body.Close() })
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || !strings.HasPrefix(got, "text/event-stream") {
		w.t.Fatalf("%d %s", resp.StatusCode, got)
	}
	return &stream{resp, bufio.NewReader(resp.Body), leave}
}

// read reads one event or comment.
func (s *stream) read() (told, error) {
	var x told
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return x, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "":
			if value != "" {
				x.comment = value
			} else {
				return x, nil
			}
		case ":":
			x.comment = value
		case "id":
			x.id = value
		case "event":
			x.kind = value
		case "data":
			if err := json.Unmarshal([]byte(value), &x.event); err != nil {
				return x, err
			}
		default:
			return x, fmt.Errorf("a line that no stream has: %q", line)
		}
	}
}

// next reads up to an event of a kind.
func (s *stream) next(t testing.TB, kind string) told {
	t.Helper()
	for {
		x, err := s.read()
		if err != nil {
			t.Fatalf("the stream ended before %s: %v", kind, err)
		}
		if x.kind == kind {
			return x
		}
	}
}

// until reads up to the news that a thread has a status.
func (s *stream) until(t testing.TB, thread, status string) told {
	t.Helper()
	for {
		x := s.next(t, "store_changed")
		if x.event.ThreadID != nil && *x.event.ThreadID == thread && x.event.Status != nil && *x.event.Status == status {
			return x
		}
	}
}

func (s *stream) ended(t testing.TB) {
	t.Helper()
	if _, err := io.Copy(io.Discard, s.in); err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
}

// TestEventsResume: who comes back with the id of the last event it saw gets all that came after, each once and in order.
func TestEventsResume(t *testing.T) {
	w := newWorld(t, setting{})
	first, whole := w.watch(reader, "/v1/events"), w.watch(reader, "/v1/events")
	first.next(t, "ready")
	whole.next(t, "ready")
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	last := first.until(t, "t-0001", "interrupted")
	first.leave()
	w.resume("t-0001", `{"action":"approve"}`).want(t, 200, "")
	back := w.watch(reader, "/v1/events", "Last-Event-ID", last.id)
	var missed, all []string
	for x := back.next(t, "store_changed"); ; x = back.next(t, "store_changed") {
		missed = append(missed, x.id)
		if x.event.Status != nil && *x.event.Status == "done" {
			break
		}
	}
	for x, after := whole.next(t, "store_changed"), false; ; x = whole.next(t, "store_changed") {
		if after {
			all = append(all, x.id)
		}
		after = after || x.id == last.id
		if x.event.Status != nil && *x.event.Status == "done" {
			break
		}
	}
	if strings.Join(missed, " ") != strings.Join(all, " ") {
		t.Errorf("came back to %v, the other saw %v", missed, all)
	}
}

// TestEventsReset: an id that is not known is answered with reset, and so is one whose successors are no longer kept.
func TestEventsReset(t *testing.T) {
	w := newWorld(t, setting{server: server.Options{Events: 4}})
	s := w.watch(reader, "/v1/events")
	old := s.next(t, "ready")
	life := old.id[:strings.LastIndex(old.id, "-")]
	for _, id := range []string{"x", "7", "other-0", life, life + "-", life + "--1", life + "-999999", life + "-1e3", "-1", strings.Repeat("9", 4000)} {
		if x, err := w.watch(reader, "/v1/events", "Last-Event-ID", id).read(); err != nil || x.kind != "reset" {
			t.Errorf("after %.40q: %+v, %v", id, x, err)
		}
	}
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	w.until("more has happened than is kept", func() bool {
		x, err := w.watch(reader, "/v1/events?last_event_id="+old.id).read()
		return err == nil && x.kind == "reset"
	})
}

// TestEventsOfOneThread: a watcher of one thread hears of no other.
func TestEventsOfOneThread(t *testing.T) {
	w := newWorld(t, setting{})
	s := w.watch(reader, "/v1/events?thread_id=t-0002")
	s.next(t, "ready")
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	w.start("notes", "t-0002", `{"topic":"ink"}`)
	for {
		x, err := s.read()
		if err != nil {
			t.Fatal(err)
		}
		if x.event.ThreadID != nil && *x.event.ThreadID != "t-0002" {
			t.Fatalf("%+v", x.event)
		}
		if x.event.Status != nil && *x.event.Status == "interrupted" {
			return
		}
	}
}

// TestSilentStreamLives: a stream on which nothing happens says that it lives.
func TestSilentStreamLives(t *testing.T) {
	w := newWorld(t, setting{server: server.Options{Heartbeat: time.Millisecond, Times: server.Times{Body: 20e6, Write: time.Second}}})
	s := w.watch(reader, "/v1/events")
	s.next(t, "ready")
	for beats := 0; beats < 50; { // beyond the time-outs of a request
		x, err := s.read()
		if err != nil {
			t.Fatal(err)
		}
		if x.comment == "alive" {
			beats++
		}
	}
}

// TestThousandWatchers: a thousand at once hear of the same, and cost no more than themselves.
func TestThousandWatchers(t *testing.T) {
	const many = 1000
	w := newWorld(t, setting{})
	streams := make([]*stream, many)
	for i := range streams {
		streams[i] = w.watch("", "/v1/events")
		streams[i].next(t, "ready")
	}
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	var all sync.WaitGroup
	for _, s := range streams {
		all.Go(func() {
			for {
				x, err := s.read()
				if err != nil {
					t.Error(err)
					return
				}
				if x.kind == "store_changed" && x.event.Status != nil && *x.event.Status == "interrupted" {
					return
				}
			}
		})
	}
	all.Wait()
	metrics := string(w.call(reader, "GET", "/metrics", "").body)
	if !strings.Contains(metrics, "\nhitl_tui_event_watchers 1000\n") {
		t.Error("the metrics count others")
	}
	for _, s := range streams {
		s.leave()
	}
	w.until("the server has seen them leave", func() bool {
		return strings.Contains(string(w.call(reader, "GET", "/metrics", "").body), "\nhitl_tui_event_watchers 0\n")
	})
}
