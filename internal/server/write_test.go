package server_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/server"
)

func TestStartAndResume(t *testing.T) {
	w := newWorld(t, setting{})
	a := w.start("notes", "t-0001", `{"topic":"tea"}`)
	if a.json["status"] != "interrupted" || a.json["interrupted"] != true || a.json["success"] != true || a.json["interrupt_message"] != "Publish tea?" {
		t.Errorf("started: %s", a.body)
	}
	if got := a.header.Get("Location"); got != "/v1/threads/t-0001" {
		t.Errorf("it is at %q", got)
	}
	w.resume("t-0001", `{"action":"reject"}`).want(t, 422, "invalid_data")
	w.resume("t-0001", `{"action":"choose","data":1}`).want(t, 422, "action_not_allowed")
	w.resume("t-0001", `{"action":"aprove"}`).want(t, 422, "unknown_action")
	w.resume("t-0001", `{"action":"approve","if_version":"0.1"}`).want(t, 409, "conflict")
	w.resume("t-0001", `{"action":"approve","interrupt_id":"nobody"}`).want(t, 404, "not_found")
	a = w.resume("t-0001", `{"action":"edit","data":"# ink","reviewer":"ana","response_id":"r-1"}`).want(t, 200, "")
	outputs, _ := json.Marshal(a.json["outputs"])
	if a.json["status"] != "done" || string(outputs) != `{"by":"ana","text":"# ink"}` {
		t.Errorf("resumed: %s", a.body)
	}
	again := w.resume("t-0001", `{"action":"edit","data":"# ink","reviewer":"ana","response_id":"r-1"}`).want(t, 200, "")
	if again.json["already_applied"] != true {
		t.Errorf("the same response again: %s", again.body)
	}
	a = w.resume("t-0001", `{"action":"approve"}`).want(t, 409, "not_waiting")
	if a.json["thread_status"] != "done" || a.json["thread_id"] != "t-0001" || a.json["status"] != 409.0 {
		t.Errorf("the refusal does not say where the thread stands: %s", a.body)
	}
}

// TestEnvelopeIsTheCommandLines: what HTTP answers is the JSON that `run --json` and `resume --json` print.
func TestEnvelopeIsTheCommandLines(t *testing.T) {
	w := newWorld(t, setting{})
	a := w.start("notes", "t-0001", `{"topic":"tea"}`)
	detail, err := w.desk.Open(t.Context(), "t-0001")
	if err != nil {
		t.Fatal(err)
	}
	want := wire.FromResult(detail.Result())
	var got wire.Envelope
	if err := json.Unmarshal(a.body, &got); err != nil {
		t.Fatal(err)
	}
	got.DurationMS = 0
	x, _ := json.Marshal(got)
	y, _ := json.Marshal(want)
	if string(x) != string(y) {
		t.Errorf("answered %s\nwant     %s", x, y)
	}
}

// TestParallelResumes: of many clients who answer one question at once one gets 200, every other 409.
func TestParallelResumes(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("slow", "t-0001", `{}`)
	const clients = 40
	statuses := make(chan answered, clients)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			a, err := w.try(t.Context(), writer, "POST", "/v1/threads/t-0001/resume", `{"action":"approve"}`)
			if err != nil {
				t.Error(err)
			}
			statuses <- a
		})
	}
	for range clients - 1 { // the winner's run still works
		a := <-statuses
		a.want(t, 409, a.code())
		if code := a.code(); code != desk.CodeRunning && code != desk.CodeAlreadyAnswered && code != desk.CodeConflict && code != desk.CodeNotWaiting {
			t.Errorf("code %q", code)
		}
	}
	w.write("go", "")
	(<-statuses).want(t, 200, "")
	all.Wait()
	if worked, _ := os.ReadFile("worked"); string(worked) != "x\n" {
		t.Errorf("the program ran %q", worked)
	}
	rows, err := w.desk.Decisions(t.Context(), "t-0001", 0)
	if err != nil || len(rows) != 1 {
		t.Errorf("%d decisions, %v", len(rows), err)
	}
}

// TestClientLeaves: a resume goes on when its client has left.
func TestClientLeaves(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("slow", "t-0001", `{}`)
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := w.try(ctx, writer, "POST", "/v1/threads/t-0001/resume", `{"action":"approve"}`)
		gone <- err
	}()
	w.until("the program works", func() bool { _, err := os.Stat("worked"); return err == nil })
	leave()
	if err := <-gone; err == nil {
		t.Fatal("the client was answered")
	}
	w.until("the server has seen it leave", func() bool { return strings.Contains(w.log.String(), "status=499") })
	if got := w.status("t-0001"); got != "running" {
		t.Fatalf("the thread is %s", got)
	}
	w.write("go", "")
	w.until("the thread is done", func() bool { return w.status("t-0001") == "done" })
}

// TestRunOutlastsTheTimeOuts: the time-outs are for clients, not for workflows.
func TestRunOutlastsTheTimeOuts(t *testing.T) {
	times := server.Times{Header: 50e6, Body: 50e6, Write: 50e6}
	w := newWorld(t, setting{server: server.Options{Times: times}})
	w.write("workflows/nap.yaml", "workflow: nap\nnodes:\n  work: {shell: \"sleep 0.3; echo done\"}\n")
	a := w.call(writer, "POST", "/v1/runs", `{"workflow":"nap"}`).want(t, 200, "")
	if a.json["status"] != "done" {
		t.Errorf("%s", a.body)
	}
}
