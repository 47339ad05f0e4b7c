package server_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/server"
)

// refusedAtTheEnd begins a request, lets the server end meanwhile, and is told so.
func refusedAtTheEnd(t *testing.T, path string) {
	w := newWorld(t, setting{server: server.Options{Drain: time.Minute}})
	hold := w.begin("slow")
	late := w.dial()
	late.say(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer %s\r\nContent-Length: 23\r\n\r\n{", path, writer))
	w.until("the server reads it", func() bool { return w.inFlight() == 2 })
	w.stop()
	w.until("the server takes no more", func() bool { return !w.reachable() })
	body := `"inputs":{}}`
	if path == "/v1/runs" {
		body = `"workflow":"notes"}`
	}
	late.say(fmt.Sprintf("%-22s", body))
	a := late.answer()
	checkDocumented(t, "POST", path, a)
	a.want(t, 503, "cancelled")
	w.write("go", "")
	hold()
}

// TestShutdownDrains: what runs when the server ends is answered in full.
func TestShutdownDrains(t *testing.T) {
	w := newWorld(t, setting{server: server.Options{Drain: time.Minute}})
	answer := w.begin("slow")
	w.stop()
	w.until("the server takes no more", func() bool { return !w.reachable() })
	w.write("go", "")
	a := answer().want(t, 200, "")
	if a.json["status"] != "done" {
		t.Errorf("%s", a.body)
	}
	w.shutDown()
}

// TestShutdownLeavesStalled: what does not come to rest in time is left stalled, its answer kept; the client is told, and the
// next server carries it on without asking again.
func TestShutdownLeavesStalled(t *testing.T) {
	w := newWorld(t, setting{server: server.Options{Drain: time.Nanosecond}})
	answer := w.begin("slow")
	w.stop()
	a := answer().want(t, 200, "cancelled")
	if a.json["status"] != "stalled" || a.json["success"] != false {
		t.Errorf("%s", a.body)
	}
	asksNothing(t, a)
	w.shutDown()
	w.closeStore()
	next := newWorld(t, setting{dir: w.dir})
	asksNothing(t, next.call(reader, "GET", "/v1/threads/t-0001", ""))
	rows, err := next.desk.Decisions(t.Context(), "t-0001", 0)
	if err != nil || len(rows) != 1 || rows[0].Outcome != "applied" {
		t.Errorf("the record: %+v, %v", rows, err)
	}
	next.write("go", "")
	a = next.resume("t-0001", "").want(t, 200, "")
	if a.json["status"] != "done" {
		t.Errorf("%s", a.body)
	}
}

// asksNothing: the question has been answered, though its answer is not yet part of a step.
func asksNothing(t *testing.T, a answered) {
	t.Helper()
	if open, is := a.json["interrupts"].([]any); !is || len(open) > 0 || a.json["interrupted"] != false {
		t.Errorf("it asks what has been answered: %s", a.body)
	}
}

// TestShutdownEndsStreams: watchers do not keep the server from ending.
func TestShutdownEndsStreams(t *testing.T) {
	w := newWorld(t, setting{server: server.Options{Drain: time.Minute}})
	s := w.watch(reader, "/v1/events")
	s.next(t, "ready")
	w.shutDown()
	s.ended(t)
}

// begin answers the thread t-0001 of a workflow that works until the file go is there, and waits until it works. The function
// it returns gives the answer.
func (w *world) begin(workflow string) func() answered {
	w.t.Helper()
	w.start(workflow, "t-0001", `{}`)
	answers := make(chan answered, 1)
	go func() {
		a, err := w.try(w.t.Context(), writer, "POST", "/v1/threads/t-0001/resume", `{"action":"approve"}`)
		if err != nil {
			w.t.Error(err)
		}
		answers <- a
	}()
	w.until("the program works", func() bool { _, err := os.Stat("worked"); return err == nil })
	return func() answered { return <-answers }
}
