package server_test

import (
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/server"
)

// crowded asks for more at once than a server may do: it is refused, and done once there is room.
func crowded(t *testing.T) {
	t.Helper()
	w := newWorld(t, setting{server: server.Options{Runs: 1, Watchers: 1}})
	full := func(a answered) {
		t.Helper()
		if a.want(t, 503, "busy").header.Get("Retry-After") == "" {
			t.Error("nobody is told when to come back")
		}
	}
	watching := w.watch(reader, "/v1/events")
	watching.next(t, "ready")
	full(w.call(reader, "GET", "/v1/events", ""))

	key := []string{"Idempotency-Key", "k"}
	ended := make(chan answered, 2)
	ask := func() {
		ended <- w.call(writer, "POST", "/v1/runs", `{"workflow":"busy","thread_id":"t-0001"}`, key...)
	}
	go ask()
	watching.until(t, "t-0001", "running")
	full(w.call(writer, "POST", "/v1/runs", `{"workflow":"notes","input":{"topic":"tea"}}`))
	full(w.call(writer, "POST", "/execute/notes", `{"inputs":{"topic":"tea"}}`))
	go ask() // a repeat is nothing more
	w.write("go", "")
	for range 2 {
		(<-ended).want(t, 200, "")
	}
	full(w.call(reader, "GET", "/v1/events", ""))
	w.start("notes", "t-0002", `{"topic":"tea"}`)
	watching.leave()
	for deadline := time.Now().Add(10 * time.Second); ; {
		if again := w.call(reader, "HEAD", "/v1/events", ""); again.status == 200 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a watcher that left takes the place of another")
		}
	}
}

// TestRemediesOverHTTP: what a refusal advises can be done by who is refused.
func TestRemediesOverHTTP(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	w.start("pair", "t-0002", `{}`)
	if err := w.desk.Claim(t.Context(), "t-0001", time.Hour); err != nil {
		t.Fatal(err)
	}
	advises := func(a answered, words string) {
		t.Helper()
		if detail, _ := a.json["detail"].(string); !contains(detail, words) {
			t.Errorf("%q does not say %q", detail, words)
		}
	}
	advises(w.resume("t-0001", `{"action":"approve","reviewer":"ana"}`).want(t, 409, "claimed"), "steal: true")
	w.resume("t-0001", `{"action":"approve","reviewer":"ana","steal":true}`).want(t, 200, "")
	advises(w.resume("t-0002", `{"action":"approve"}`).want(t, 422, "ambiguous"), "interrupt_id")
	advises(w.call(writer, "POST", "/v1/runs", `{"workflow":"notes","input":{"topic":"x"},"thread_id":"t-0001"}`).want(t, 409, "conflict"), "another thread_id")
}
