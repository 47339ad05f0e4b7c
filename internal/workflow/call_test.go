package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/llm"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// modelsOf are a model of each wire at a server.
func modelsOf(url string) map[string]llm.Model {
	gpt := llm.Model{Name: "gpt", Wire: llm.OpenAI, URL: url + "/v1", Model: "gpt-x", KeyEnv: "GPT_KEY"}
	return map[string]llm.Model{"default": gpt, "gpt": gpt, "claude": {Name: "claude", Wire: llm.Anthropic, URL: url, Model: "claude-x", KeyEnv: "CLAUDE_KEY"}}
}

func servicesOf(t *testing.T, handle http.Handler) (workflow.Services, string) {
	t.Helper()
	server, transport := httptest.NewServer(handle), &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return workflow.Services{Models: modelsOf(server.URL), Transport: transport, Getenv: func(name string) (string, bool) {
		return "value-of-" + name, strings.HasSuffix(name, "_KEY")
	}}, server.URL
}

// shop is a server of orders, and of models of both wires.
type shop struct {
	mu   sync.Mutex
	busy int // answers of 429 yet to come
	log  []string
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.log = append(s.log, fmt.Sprintf("%s %s %s%s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key")))
	switch r.URL.Path {
	case "/orders/7":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":7,"total":12.5}`)
	case "/v1/chat/completions":
		if s.busy--; s.busy >= 0 {
			w.Header().Set("Retry-After", "20")
			w.WriteHeader(429)
			_, _ = io.WriteString(w, `{"error":{"message":"slow down"}}`)
			return
		}
		_, _ = io.WriteString(w, ": hello\n\n"+`data: {"choices":[{"delta":{"content":"Order 7 is paid."}}]}`+"\n\n"+`data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	case "/v1/messages":
		mood := `{\"mood\": \"glad\"}`
		if !strings.Contains(string(body), "Order 7 is paid.") {
			mood = `{\"mood\": 5}`
		}
		_, _ = io.WriteString(w, `data: {"type":"content_block_start","content_block":{"type":"tool_use","name":"answer","input":{}}}`+"\n\n"+
			`data: {"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"`+mood+`"}}`+"\n\n"+
			`data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}`+"\n\n"+`data: {"type":"message_stop"}`+"\n\n")
	default:
		http.NotFound(w, r)
	}
}

const shopFile = `
workflow: shop
input: {properties: {url: {type: string}, order: {type: string}}, required: [url, order]}
output: {order: order, found: found, answer: answer, mood: mood}
nodes:
  find:
    http: "{{.url}}/orders/{{.order}}"
    query: {verbose: "yes & no"}
    headers: {Authorization: 'Bearer {{env "SHOP_KEY"}}'}
    accept: [404]
    output: found
    routes: {404: ask}
    then: tell
  ask: {set: {answer: "'There is no order ' + order"}}
  tell:
    llm: default
    system: You are brief.
    prompt: "Tell about order {{.order}} of {{number 2 .found.total}} EUR."
    retry_policy: {max_attempts: 3, initial_delay: 1s, jitter: 0}
    output: answer
    then: judge
  judge:
    llm: claude
    messages: "[{role: 'user', text: 'Judge.'}, {role: 'clerk', text: answer}]"
    schema: {type: object, properties: {mood: {enum: [glad, sad]}}, required: [mood]}
    temperature: 0
    max_tokens: 100
    output: {mood: output.mood}
`

// TestShop: both kinds in one file, from its text to its output: routes by status, retries on the engine's clock, a
// model of each wire, and no key anywhere in what is kept or told.
func TestShop(t *testing.T) {
	for _, c := range []struct {
		order, want string
		calls       []string
		slept       []time.Duration
	}{
		{"7", `{"order":"7","found":{"id":7,"total":12.5},"answer":"Order 7 is paid.","mood":"glad"}`, []string{
			"GET /orders/7?verbose=yes+%26+no Bearer value-of-SHOP_KEY",
			"POST /v1/chat/completions Bearer value-of-GPT_KEY", "POST /v1/chat/completions Bearer value-of-GPT_KEY",
			"POST /v1/messages value-of-CLAUDE_KEY"}, []time.Duration{20 * time.Second}},
		{"8", `{"order":"8","found":"404 page not found","answer":"There is no order 8","mood":null}`, []string{
			"GET /orders/8?verbose=yes+%26+no Bearer value-of-SHOP_KEY"}, nil},
	} {
		server := &shop{busy: 1}
		services, url := servicesOf(t, server)
		library := workflow.Library{Services: services}
		file := filepath.Join(t.TempDir(), "shop.yaml")
		if err := os.WriteFile(file, []byte(shopFile), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := library.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		store := memory.New(memory.Options{})
		defer store.Close()
		var slept []time.Duration
		heard := &ears{}
		e := engine.New(store, engine.Options{Graphs: &workflow.Graphs{Library: library}, Observer: heard, Sleep: func(_ context.Context, d time.Duration) error {
			slept = append(slept, d)
			return nil
		}})
		defer e.Close(context.Background())
		input := map[string]json.RawMessage{"url": json.RawMessage(`"` + url + `"`), "order": json.RawMessage(`"` + c.order + `"`)}
		out, err := e.Start(t.Context(), engine.StartRequest{Definition: l.Definition, Graph: l.Graph, Input: input, Workdir: t.TempDir()})
		if err != nil || string(out.Outputs) != c.want {
			t.Fatalf("%s %+v, %v\nwant %s", out.Outputs, out.Error, err, c.want)
		}
		e.Heard()
		if diff := cmp.Diff(c.calls, server.log) + cmp.Diff(c.slept, slept); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if c.order == "7" && !strings.Contains(heard.all(), "node_output tell Order 7 is paid.") {
			t.Errorf("progress:\n%s", heard.all())
		}
		if kept := everythingOf(t, store, out.Thread) + heard.all(); strings.Contains(kept, "value-of-") {
			t.Errorf("a key is kept or told:\n%s", kept)
		}
	}
}

// ears hear events.
type ears struct {
	mu    sync.Mutex
	lines []string
}

func (h *ears) Observe(e engine.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf("%s %s %s", e.Type, e.Node, e.Text))
}

func (h *ears) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "\n")
}

// everythingOf is all that a store keeps of a thread, as text.
func everythingOf(t *testing.T, store checkpoint.Store, thread string) string {
	t.Helper()
	c, err := store.Latest(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestModelsThatAreNotThere: a file that is to be started has a fault that says what to configure; a thread that keeps its
// file is read and fails only at that node.
func TestModelsThatAreNotThere(t *testing.T) {
	const text = "workflow: t\nnodes:\n  a: {llm: %s, prompt: x}\n"
	load := func(model string, s workflow.Services) error {
		file := filepath.Join(t.TempDir(), "t.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, text, model), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := workflow.Library{Services: s}.Load(file)
		return err
	}
	some := workflow.Services{Models: modelsOf("http://x"), ModelsIn: "/home/ann/config.yaml"}
	delete(some.Models, "default")
	for _, c := range []struct {
		model, want string
		services    workflow.Services
	}{
		{"gpt", "", some},
		{"cluade", `llm: no model is called "cluade"; did you mean "claude"? (known are claude, gpt); add it to models in /home/ann/config.yaml`, some},
		{"default", `llm: no model is the default: name one of claude, gpt in /home/ann/config.yaml, as in models: {default: claude, ...}`, some},
		{"fast", `llm: no model is called "fast", since none is configured: add models: {fast: {wire: openai or anthropic, model: NAME, key_env: VARIABLE}} to the configuration`, workflow.Services{}},
	} {
		err := load(c.model, c.services)
		var faults workflow.Faults
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &faults) || len(faults) != 1 || faults[0].Message != c.want || faults[0].Line != 3 || faults[0].Column != 12) {
			t.Errorf("%s: %v\nwant %s", c.model, err, c.want)
		}
	}
	out := run(t, fmt.Sprintf(text, "gone"), nil)
	if out.Error == nil || !strings.HasPrefix(out.Error.Message, `llm: no model is called "gone"`) || out.Error.Attempts != 1 {
		t.Errorf("%+v", out.Error)
	}
}

// TestDefaultTimes: a server that never answers does not hold a thread for ever.
func TestDefaultTimes(t *testing.T) {
	l, err := workflow.FromDefinition(checkpoint.Definition{Files: []checkpoint.File{{Path: "t.yaml", Text: `
workflow: t
nodes:
  a: {http: "https://x", then: b}
  b: {llm: gpt, prompt: x, then: c}
  c: {http: "https://x", timeout: 5s, then: d}
  d: {shell: "true"}
`}}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{"a": 30 * time.Second, "b": 2 * time.Minute, "c": 5 * time.Second, "d": 0}
	for _, n := range l.Graph.Nodes {
		if n.Timeout != want[n.Name] {
			t.Errorf("%s: %s, want %s", n.Name, n.Timeout, want[n.Name])
		}
	}
}

// TestAServerThatHangs: the time is over for the request too, and the next attempt may fare better.
func TestAServerThatHangs(t *testing.T) {
	var calls atomic.Int64
	services, url := servicesOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, "here")
	}))
	for attempts, want := range map[string]string{"1": "timed out after 50ms", "100": ""} {
		calls.Store(0)
		d := checkpoint.Definition{Files: []checkpoint.File{{Path: "t.yaml", Text: "workflow: t\nnodes:\n  a: {http: \"" + url +
			"\", timeout: 50ms, retry_policy: {max_attempts: " + attempts + ", initial_delay: 0s}, output: x}\n"}}}
		l, err := workflow.Library{Services: services}.FromDefinition(d)
		if err != nil {
			t.Fatal(err)
		}
		out, err := engine.New(nil, engine.Options{}).Start(t.Context(), engine.StartRequest{Definition: d, Graph: l.Graph})
		if err != nil || want == "" && string(out.Outputs) != `{"x":"here"}` || want != "" && (out.Error == nil || out.Error.Message != "GET "+url+": "+want) {
			t.Errorf("%s attempts: %s %+v, %v", attempts, out.Outputs, out.Error, err)
		}
	}
}
