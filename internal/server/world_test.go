package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/server"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	writer = "write-token-0123456789"
	reader = "read-token-0123456789"
)

// files are the workflows of the configured folder. Those that work wait for the file go in the folder they run in.
var files = map[string]string{
	"notes.yaml": `workflow: notes
input: {properties: {topic: {type: string}, api_key: {type: string, default: none}}, required: [topic]}
output: {text: text, by: answers.review.by}
nodes:
  draft: {template: "# {{.topic}}", output: text, then: review}
  review:
    human: approval
    title: Publish?
    message: "Publish {{.topic}}?"
    content: text
    actions: [approve, edit, reject, retry]
    require_comment: [reject]
    routes: {retry: draft}
    then: END
`,
	"slow.yaml": `workflow: slow
nodes:
  ask: {human: approval, message: Go?, then: work}
  work: {shell: "echo working >&2; echo x >> worked; while ! test -e go; do sleep 0.02; done; echo done"}
`,
	"busy.yaml": `workflow: busy
nodes:
  work: {shell: "while ! test -e go; do sleep 0.02; done; echo done", then: ask}
  ask: {human: suspend, message: On?}
`,
	"pair.yaml": `workflow: pair
nodes:
  ask:
    questions:
      a: {human: approval, message: A?}
      b: {human: approval, message: B?}
`,
	"failing.yaml": `workflow: failing
nodes:
  ask: {human: approval, message: Go?, then: tag}
  tag: {shell: "test -e tag || { echo no tag >&2; exit 3; }"}
`,
	"broken.yaml": "workflow: broken\nnodes:\n  ask: {human: approval, message: Go?, then: nowhere}\n",
}

// world is a server over a real engine and a real store, on a real socket.
type world struct {
	t       testing.TB
	dir     string
	url     string
	address string
	log     *lockedBuffer
	desk    *desk.Desk
	source  *local.Source
	store   checkpoint.Store
	stop    context.CancelFunc
	ended   chan error
	client  *http.Client
	closed  bool
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// setting changes how a world is made.
type setting struct {
	server   server.Options
	readOnly bool
	address  string // 127.0.0.1:0
	dir      string // of a world before
}

func newWorld(t testing.TB, s setting) *world {
	t.Helper()
	w := &world{t: t, dir: s.dir, log: &lockedBuffer{}, ended: make(chan error, 1)}
	if w.dir == "" {
		w.dir = t.TempDir()
		for name, text := range files {
			w.write(filepath.Join("workflows", name), text)
		}
	}
	t.Chdir(w.dir) // where programs run
	store, err := sqlite.Open(t.Context(), filepath.Join(w.dir, "desk.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	graphs := &workflow.Graphs{Library: workflow.Library{Folders: []string{filepath.Join(w.dir, "workflows")}}}
	w.store = store
	w.source = local.New(store, engine.Options{Graphs: graphs})
	w.desk, err = desk.New(w.source, desk.Options{Reviewer: "server", Grace: -1, ReadOnly: s.readOnly})
	if err != nil {
		t.Fatal(err)
	}
	// The first thing a desk tells is that it watches the store; before, a change could be told as one of any thread. It may
	// be told before anybody can hear it, and is then true already.
	hearing, heard := context.WithCancel(t.Context())
	select {
	case <-w.desk.Subscribe(hearing):
	case <-time.After(time.Second):
	}
	heard()
	if s.server.WriteToken == "" {
		s.server.WriteToken, s.server.ReadToken = writer, reader
	}
	s.server.Log = slog.New(slog.NewTextHandler(w.log, nil))
	srv, err := server.New(w.desk, s.server)
	if err != nil {
		t.Fatal(err)
	}
	if s.address == "" {
		s.address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop, w.address = stop, strings.Replace(listener.Addr().String(), "0.0.0.0", "127.0.0.1", 1)
	w.url = "http://" + w.address
	go func() { w.ended <- srv.Serve(ctx, listener) }()
	transport := &http.Transport{ExpectContinueTimeout: time.Minute, MaxIdleConnsPerHost: 64}
	w.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		w.shutDown()
		transport.CloseIdleConnections()
		w.closeStore()
	})
	return w
}

// shutDown ends the server and waits for it. A second time does nothing.
func (w *world) shutDown() {
	w.stop()
	if err, open := <-w.ended; open {
		close(w.ended)
		if err != nil {
			w.t.Errorf("the server ended with %v", err)
		}
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		w.t.Fatal(err)
	}
}

// inFlight counts the requests being answered, as the metrics do, without that for the metrics.
func (w *world) inFlight() int {
	w.t.Helper()
	var n int
	_, rest, _ := strings.Cut(string(w.call(reader, "GET", "/metrics", "").body), "\nhitl_tui_http_requests_in_flight ")
	if _, err := fmt.Sscan(rest, &n); err != nil {
		w.t.Fatal(err)
	}
	return n - 1
}

// reachable reports whether the server takes connections.
func (w *world) reachable() bool {
	conn, err := net.Dial("tcp", w.address)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// closeStore ends what the server worked with, so that another one can have it.
func (w *world) closeStore() {
	w.t.Helper()
	if w.closed {
		return
	}
	w.closed = true
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := errors.Join(w.desk.Close(ctx), w.source.Close(ctx), w.store.Close()); err != nil {
		w.t.Error(err)
	}
}

// answered is an answer in full.
type answered struct {
	status int
	header http.Header
	body   []byte
	json   map[string]any // nil where it is none
}

func (a answered) code() string {
	problem, _ := a.json["error"].(map[string]any)
	code, _ := problem["code"].(string)
	return code
}

// call makes a request; headers are NAME, VALUE. An empty token sends none.
func (w *world) call(token, method, path, body string, headers ...string) answered {
	w.t.Helper()
	a, err := w.try(w.t.Context(), token, method, path, body, headers...)
	if err != nil {
		w.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (w *world) try(ctx context.Context, token, method, path, body string, headers ...string) (answered, error) {
	var from io.Reader
	if body != "" {
		from = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, w.url+path, from)
	if err != nil {
		return answered{}, err
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if len(body) > actions.MaxSize { // what is refused is not read, and who sends it all the same may not hear why
		r.Header.Set("Expect", "100-continue")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := w.client.Do(r)
	if err != nil {
		return answered{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	a := answered{status: resp.StatusCode, header: resp.Header, body: raw}
	if err == nil && method != http.MethodHead {
		checkDocumented(w.t, method, path, a)
		_ = json.Unmarshal(raw, &a.json)
	}
	return a, err
}

// want fails unless an answer has a status and, of an error, a code.
func (a answered) want(t testing.TB, status int, code string) answered {
	t.Helper()
	if a.status != status || a.code() != code {
		t.Errorf("%d %s, want %d %s\n%s", a.status, a.code(), status, code, a.body)
	}
	if code == "" || a.json == nil {
		return a
	}
	if got := a.header.Get("Content-Type"); code != "" && status >= 400 && got != "application/problem+json" {
		t.Errorf("an error as %s", got)
	}
	return a
}

// start starts a thread, which must come to rest.
func (w *world) start(workflow, thread, input string) answered {
	w.t.Helper()
	a := w.call(writer, "POST", "/v1/runs", `{"workflow":"`+workflow+`","thread_id":"`+thread+`","input":`+input+`}`)
	if a.status != 200 {
		w.t.Fatalf("start %s: %d %s", workflow, a.status, a.body)
	}
	return a
}

func (w *world) resume(thread, body string, headers ...string) answered {
	w.t.Helper()
	return w.call(writer, "POST", "/v1/threads/"+thread+"/resume", body, headers...)
}

// status is where a thread stands.
func (w *world) status(thread string) string {
	w.t.Helper()
	d, err := w.desk.Open(context.Background(), thread)
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Status
}

// until waits for something that another goroutine brings about.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			w.t.Fatalf("it never came that %s", what)
		case <-tick.C:
		}
	}
}

// raw is a connection on which a test writes what it likes.
type raw struct {
	t testing.TB
	net.Conn
	in *bufio.Reader
}

func (w *world) dial() *raw {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	return &raw{w.t, conn, bufio.NewReader(conn)}
}

func (c *raw) say(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// answer reads one answer.
func (c *raw) answer() answered {
	c.t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	a := answered{status: resp.StatusCode, header: resp.Header, body: body}
	_ = json.Unmarshal(body, &a.json)
	return a
}

// closed fails unless the server closes the connection without a further word.
func (c *raw) closed() {
	c.t.Helper()
	if rest, err := io.ReadAll(c.in); err != nil && !errors.Is(err, syscall.ECONNRESET) || len(rest) > 0 {
		c.t.Errorf("the server goes on: %q, %v", rest, err)
	}
}
