package server_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/server"
)

// TestMalformed: bodies, parameters and headers that say nothing clear are refused before anything is done.
func TestMalformed(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	for _, body := range []string{
		`{`, `[]`, `null`, `"approve"`, `{"action":"approve"}{}`, `{"action":"approve","action":"reject"}`, `{"Action":"approve"}`,
		`{"data":NaN}`, "{\"data\":\"\xff\"}", `{"answers":[]}`, `{"thread_id":"t-0002"}`, `{"if_version":1.5}`, "\x1f\x8b\x08\x00", strings.Repeat("[", 60_000),
	} {
		w.resume("t-0001", body).want(t, 400, "usage")
	}
	for _, body := range []string{`{}`, `{"workflow":""}`, `{"workflow":7}`, `{"workflow":"notes","input":[]}`, `{"workflow":"notes","inputs":{}}`,
		`{"workflow":"notes","input":{"topic":"x"},"thread_id":"../x"}`, `{"workflow":"notes","input":{"topic":"x"},"thread_id":"a/b"}`} {
		w.call(writer, "POST", "/v1/runs", body).want(t, 400, "usage")
	}
	for _, query := range []string{"limt=1", "limit=0", "limit=x", "limit=1001", "sort=size", "filter=nokey:x", "filter=%22", "after=x", "status=asleep"} {
		w.call(reader, "GET", "/v1/threads?"+query, "").want(t, 400, "usage")
	}
	w.call(reader, "GET", "/v1/threads/t-0001?step=-1", "").want(t, 400, "usage")
	w.call(reader, "GET", "/v1/threads/t-0001?step=99", "").want(t, 404, "not_found")
	for _, key := range []string{"", strings.Repeat("k", 201)} {
		w.resume("t-0001", `{"action":"approve"}`, "Idempotency-Key", key).want(t, 400, "usage")
	}
	w.resume("t-0001", `{"action":"approve"}`, "Idempotency-Key", "a", "Idempotency-Key", "b").want(t, 400, "usage")
	if w.status("t-0001") != "interrupted" {
		t.Error("one of these was an answer")
	}
}

// TestWorkflowsByNameOnly: no path starts a workflow, and none is found by a way around.
func TestWorkflowsByNameOnly(t *testing.T) {
	w := newWorld(t, setting{})
	w.write("outside.yaml", strings.ReplaceAll(files["pair.yaml"], "workflow: pair", "workflow: outside"))
	w.write("bare", strings.ReplaceAll(files["pair.yaml"], "workflow: pair", "workflow: bare"))
	w.write("workflows/other.yaml", files["pair.yaml"]) // calls itself pair
	for _, name := range []string{"outside", "outside.yaml", "./outside.yaml", "../outside", "workflows/notes.yaml", "notes.yaml", w.dir + "/outside.yaml",
		"..", ".", "bare", "NOTES", "notes/", "/etc/passwd", `..\\outside`} {
		a := w.call(writer, "POST", "/v1/runs", `{"workflow":"`+name+`","input":{"topic":"x"}}`)
		a.want(t, 404, "not_found")
	}
	w.call(writer, "POST", "/v1/runs", `{"workflow":"other"}`).want(t, 422, "workflow_invalid")
	w.call(writer, "POST", "/v1/runs", `{"workflow":"broken"}`).want(t, 422, "workflow_invalid")
	w.call(writer, "POST", "/execute/..%2Foutside/x", `{}`).want(t, 404, "not_found")
	w.call(writer, "POST", "/execute/%2Fetc%2Fpasswd/%2Fetc%2Fpasswd", `{}`).want(t, 404, "not_found")
}

// TestWholeIdsOnly: the ending of an id, which people may type, names nothing here, nor does a path that says an id in
// another way.
func TestWholeIdsOnly(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("notes", "thread-0001", `{"topic":"tea"}`)
	w.start("notes", "a@b:c+d", `{"topic":"tea"}`)
	for _, path := range []string{"/v1/threads/0001", "/v1/threads/Thread-0001", "/v1/threads/thread-0001%20", "/v1/threads/thread-0001%00", "/v1/threads/%2e%2e",
		"/v1/threads/thread-0001/", "/v1//threads/thread-0001", "/v1/threads/x/../thread-0001", "/v1/threads/./thread-0001", "//v1/threads", "/V1/threads",
		"/v1/threads/thread-0001/history/", "/v1/threads/..%2Fthreads%2Fthread-0001", "/v1/threads/" + strings.Repeat("x", 4000)} {
		if a := w.call(reader, "GET", path, ""); a.status != 404 || a.code() != "not_found" {
			t.Errorf("%.60s: %d %s", path, a.status, a.body)
		}
	}
	w.call(writer, "POST", "/v1/threads/0001/resume", `{"action":"approve"}`).want(t, 404, "not_found")
	w.call(writer, "POST", "//v1/threads/thread-0001/resume", `{"action":"approve"}`).want(t, 404, "not_found")
	w.call(reader, "GET", "/v1/threads/a%40b%3Ac%2Bd", "").want(t, 200, "")
	w.call(reader, "GET", "/v1/threads/a@b:c+d/history", "").want(t, 200, "")
	if w.status("thread-0001") != "interrupted" {
		t.Error("a way around led to the thread")
	}
}

// TestHugeBody: a body beyond the limit is refused without being read to its end, and what is said to be one without being
// read at all.
func TestHugeBody(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	head := "POST /v1/threads/t-0001/resume HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer " + writer + "\r\n"

	said := w.dial()
	said.say(head + "Content-Length: 10000000000\r\n\r\n")
	said.answer().want(t, 413, "too_large")
	said.closed()

	asks := w.dial() // before it sends the body
	asks.say(head + "Content-Length: 65537\r\nExpect: 100-continue\r\n\r\n")
	asks.answer().want(t, 413, "too_large")
	asks.closed()

	chunked := w.dial()
	chunked.say(head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n1\r\n", 65536, strings.Repeat(" ", 65536)))
	chunked.say(" ") // and the end never comes
	chunked.answer().want(t, 413, "too_large")

	just := `{"action":"edit","data":"` + strings.Repeat("x", 65536-27) + `"}`
	if len(just) != 65536 {
		t.Fatal(len(just))
	}
	w.resume("t-0001", just+" ").want(t, 413, "too_large")
	w.resume("t-0001", just).want(t, 200, "")
}

// TestSlowClients: who sends slowly or takes nothing is let go, and keeps nobody else waiting.
func TestSlowClients(t *testing.T) {
	w := newWorld(t, setting{server: server.Options{Times: server.Times{Header: 100 * time.Millisecond, Body: 200 * time.Millisecond, Write: 200 * time.Millisecond}, Events: 1 << 15}})
	w.start("notes", "t-0001", `{"topic":"tea"}`)

	head := w.dial()
	head.say("GET /v1/threads HTTP/1.1\r\nHost: ")
	head.closed()

	body := w.dial()
	body.say("POST /v1/threads/t-0001/resume HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer " + writer + "\r\nContent-Length: 30\r\n\r\n{")
	body.answer().want(t, 408, "usage")
	body.closed()

	deaf := w.dial()
	if err := deaf.Conn.(*net.TCPConn).SetReadBuffer(1); err != nil {
		t.Fatal(err)
	}
	deaf.say("GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	w.write("workflows/loud.yaml", "workflow: loud\nnodes:\n  work: {shell: \"i=0; while [ $i -lt 9000 ]; do echo 'a line of some length that nobody reads, again and again, and once more' >&2; i=$((i+1)); done\"}\n")
	w.until("the deaf watcher is let go", func() bool {
		w.start("loud", fmt.Sprint("loud-", time.Now().UnixNano()), `{}`)
		return strings.Contains(string(w.call(reader, "GET", "/metrics", "").body), "\nhitl_tui_event_watchers 0\n")
	})
	w.resume("t-0001", `{"action":"approve"}`).want(t, 200, "")
}
