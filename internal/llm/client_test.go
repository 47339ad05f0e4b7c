package llm_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/httpfail"
	"github.com/hitl-tui/hitl-tui/internal/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-test-0123456789"

// Streams as the servers send them, comments, pings and reasoning included.
const (
	openAIStream = `: OPENROUTER PROCESSING

data: {"id":"c-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"c-1","choices":[{"index":0,"delta":{"reasoning_content":"Hmm."},"finish_reason":null}]}

data: {"id":"c-1","choices":[{"index":0,"delta":{"content":"Grüße, "},"finish_reason":null}]}

data: {"id":"c-1","choices":[{"index":0,"delta":{"content":"Wörld 🌍"},"finish_reason":null}]}

data: {"id":"c-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}

data: [DONE]

`
	anthropicStream = `event: message_start
data: {"type":"message_start","message":{"id":"m-1","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße, "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Wörld 🌍"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}

event: something_new
data: {"type":"something_new","whatever":[1]}

event: message_stop
data: {"type":"message_stop"}

`
	anthropicTool = `event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Let me see."}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t-1","name":"answer","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" 1}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}

event: message_stop
data: {"type":"message_stop"}

`
)

// secondCall is one more call of the tool, before the end of anthropicTool.
const secondCall = `event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t-2","name":"answer","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 2}"}}

`

// bench is a server and a client of it.
type bench struct {
	*testing.T
	client    llm.Client
	transport *http.Transport
	model     llm.Model
}

func serve(t *testing.T, wire llm.Wire, handle http.HandlerFunc) *bench {
	t.Helper()
	server := httptest.NewServer(handle)
	b := &bench{T: t, transport: &http.Transport{}}
	b.client.Transport = b.transport
	b.model = llm.Model{Name: "small", Wire: wire, URL: server.URL, Model: "m-1", KeyEnv: "TEST_KEY"}
	t.Cleanup(func() {
		b.transport.CloseIdleConnections()
		server.Close()
	})
	return b
}

func (b *bench) ask(r *llm.Request, stream func(string)) (*llm.Answer, error) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	if r == nil {
		r = &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello"}}}
	}
	return b.client.Ask(ctx, b.model, key, r, stream)
}

// sends answers with a text.
func sends(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const eventStream = "text/event-stream"

// TestAnswers: what servers send, and what becomes of it.
func TestAnswers(t *testing.T) {
	const hello = "Grüße, Wörld 🌍"
	for _, c := range []struct {
		name, contentType, body string
		wire                    llm.Wire
		schema                  string
		want                    llm.Answer
	}{
		{"stream", eventStream, openAIStream, llm.OpenAI, "", llm.Answer{Text: hello, Usage: llm.Usage{In: 9, Out: 4}}},
		{"stream", eventStream + "; charset=utf-8", anthropicStream, llm.Anthropic, "", llm.Answer{Text: hello, Usage: llm.Usage{In: 9, Out: 4}}},
		{"stream by another name", "text/plain", openAIStream, llm.OpenAI, "", llm.Answer{Text: hello, Usage: llm.Usage{In: 9, Out: 4}}},
		{"stream called JSON", "application/json", anthropicStream, llm.Anthropic, "", llm.Answer{Text: hello, Usage: llm.Usage{In: 9, Out: 4}}},
		{"ends of lines", eventStream, strings.ReplaceAll(openAIStream, "\n", "\r\n"), llm.OpenAI, "", llm.Answer{Text: hello, Usage: llm.Usage{In: 9, Out: 4}}},
		{"no [DONE]", eventStream, strings.Replace(openAIStream, "data: [DONE]\n\n", "", 1), llm.OpenAI, "", llm.Answer{Text: hello, Usage: llm.Usage{In: 9, Out: 4}}},
		{"no reason", eventStream, `data: {"choices":[{"delta":{"content":"hi"}}]}` + "\n\ndata: [DONE]\n\n", llm.OpenAI, "", llm.Answer{Text: "hi"}},
		{"parts", eventStream, `data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"hi"}]},"finish_reason":"stop"}]}` + "\n\n", llm.OpenAI, "", llm.Answer{Text: "hi"}},
		{"at once", "application/json", `{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"hi","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":1}}`,
			llm.OpenAI, "", llm.Answer{Text: "hi", Usage: llm.Usage{In: 2, Out: 1}}},
		{"at once", "application/json", `{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":2,"output_tokens":1}}`,
			llm.Anthropic, "", llm.Answer{Text: "hi", Usage: llm.Usage{In: 2, Out: 1}}},
		{"JSON", eventStream, `data: {"choices":[{"delta":{"content":"{\"n\": 1}"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", llm.OpenAI, `{"type":"object"}`, llm.Answer{Text: `{"n": 1}`}},
		{"JSON by a tool", eventStream, anthropicTool, llm.Anthropic, `{"type":"object"}`, llm.Answer{Text: `{"n": 1}`, Usage: llm.Usage{In: 9, Out: 7}}},
		{"JSON by a tool at once", "application/json", `{"type":"message","content":[{"type":"text","text":"So:"},{"type":"tool_use","name":"answer","input":{"n": 1}}],"stop_reason":"tool_use"}`,
			llm.Anthropic, `{"type":"object"}`, llm.Answer{Text: `{"n": 1}`}},
		{"JSON by two calls", eventStream, strings.Replace(anthropicTool, "event: message_delta", secondCall+"event: message_delta", 1), llm.Anthropic, `{"type":"object"}`,
			llm.Answer{Text: `{"n": 1}`, Usage: llm.Usage{In: 9, Out: 7}}},
		{"JSON by two calls at once", "application/json", `{"type":"message","content":[{"type":"tool_use","name":"answer","input":{"n": 1}},{"type":"tool_use","name":"answer","input":{"n": 2}}],"stop_reason":"tool_use"}`,
			llm.Anthropic, `{"type":"object"}`, llm.Answer{Text: `{"n": 1}`}},
		{"no JSON by a tool", eventStream, anthropicStream, llm.Anthropic, `{"type":"object"}`, llm.Answer{Text: hello, Usage: llm.Usage{In: 9, Out: 4}}},
		{"bytes that are no text", eventStream, "data: {\"choices\":[{\"delta\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}\n\n", llm.OpenAI, "", llm.Answer{Text: "a\ufffdb"}},
	} {
		t.Run(string(c.wire)+" "+c.name, func(t *testing.T) {
			b := serve(t, c.wire, sends(200, c.contentType, c.body))
			var streamed strings.Builder
			r := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello"}}}
			if c.schema != "" {
				r.Schema = json.RawMessage(c.schema)
			}
			got, err := b.ask(r, func(s string) { streamed.WriteString(s) })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, *got); diff != "" || !strings.HasSuffix(streamed.String(), got.Text) {
				t.Errorf("streamed %q; (-want +got)\n%s", &streamed, diff)
			}
		})
	}
}

// TestFailures: what is no answer, and whether it may pass.
func TestFailures(t *testing.T) {
	const chunk = `data: {"choices":[{"delta":{"content":"half"},"finish_reason":null}]}` + "\n\n"
	const begun = `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half"}}` + "\n\n"
	reason := func(r string) string {
		return chunk + `data: {"choices":[{"delta":{},"finish_reason":"` + r + `"}]}` + "\n\ndata: [DONE]\n\n"
	}
	stopped := func(r string) string {
		return begun + `data: {"type":"message_delta","delta":{"stop_reason":"` + r + `"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
	}
	for _, c := range []struct {
		wire        llm.Wire
		status      int
		contentType string
		body, want  string
		passing     bool
	}{
		{llm.OpenAI, 200, eventStream, chunk, "the stream ended before the answer was complete", true},
		{llm.Anthropic, 200, eventStream, begun, "the stream ended before the answer was complete", true},
		{llm.OpenAI, 200, eventStream, "", "the server sent an empty answer", true},
		{llm.OpenAI, 200, eventStream, "data: [DONE]\n\n", "the stream ended before the answer was complete", true},
		{llm.OpenAI, 200, eventStream, `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n", "the model answered with nothing", true},
		{llm.OpenAI, 200, eventStream, reason("length"), "the answer was cut off at the limit of the server: set max_tokens, or ask for less", false},
		{llm.Anthropic, 200, eventStream, stopped("max_tokens"), "the answer was cut off at max_tokens (4096): raise max_tokens, or ask for less", false},
		{llm.Anthropic, 200, eventStream, stopped("model_context_window_exceeded"), "the answer was cut off, since what was asked and answered is more than the model can hold", false},
		{llm.OpenAI, 200, eventStream, reason("content_filter"), "the model refused to answer: half", false},
		{llm.OpenAI, 200, eventStream, `data: {"choices":[{"delta":{"refusal":"I can't "}}]}` + "\n\n" + `data: {"choices":[{"delta":{"refusal":"help."},"finish_reason":"stop"}]}` + "\n\n", "the model refused to answer: I can't help.", false},
		{llm.Anthropic, 200, eventStream, stopped("refusal"), "the model refused to answer: half", false},
		{llm.OpenAI, 200, eventStream, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"x"}}]},"finish_reason":"tool_calls"}]}` + "\n\n", "the model called a tool, and none was offered to it", true},
		{llm.Anthropic, 200, eventStream, anthropicTool, "the model called a tool, and none was offered to it", true},
		{llm.Anthropic, 200, eventStream, stopped("pause_turn"), "the server broke the answer off", true},
		{llm.OpenAI, 200, eventStream, reason("error"), "the server broke the answer off", true},
		{llm.OpenAI, 200, eventStream, chunk + `data: {"error":{"message":"The server had an error","type":"server_error"}}` + "\n\n", "the server reports: The server had an error (server_error)", true},
		{llm.OpenAI, 200, eventStream, chunk + `data: {"error":"out of memory"}` + "\n\n", "the server reports: out of memory", true},
		{llm.OpenAI, 200, eventStream, `data: {"error":{"message":"No credit","code":402}}` + "\n\n", "the server reports: No credit", false},
		{llm.OpenAI, 200, "application/json", `{"error":{"message":"bad","type":"invalid_request_error"}}`, "the server reports: bad (invalid_request_error)", false},
		{llm.Anthropic, 200, eventStream, begun + "event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n", "the server reports: Overloaded (overloaded_error)", true},
		{llm.Anthropic, 200, eventStream, "event: error\ndata: " + `{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}` + "\n\n", "the server reports: bad (invalid_request_error)", false},
		{llm.OpenAI, 200, eventStream, chunk + "data: {\"choi\n\n", `the server sent what is no answer of this wire: {"choi`, true},
		{llm.Anthropic, 200, "application/json", `{"hello":1}`, `the server sent what is no answer of this wire: {"hello":1}`, true},
		{llm.OpenAI, 200, "text/html", "<!doctype html><title>Welcome</title>", "the server sent a web page (text/html) where a model would answer: look at the url", false},
		{llm.OpenAI, 401, "application/json", `{"error":{"message":"Incorrect API key provided: ` + key + `.","type":"invalid_request_error"}}`, "401 Unauthorized: Incorrect API key provided: [key]. (the key comes from TEST_KEY)", false},
		{llm.Anthropic, 529, "application/json", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "529: Overloaded", true},
		{llm.Anthropic, 413, "application/json", `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, "413 Request Entity Too Large: Request exceeds the maximum size", false},
		{llm.OpenAI, 200, eventStream, `data: {"error":"you sent ` + key + `"}` + "\n\n", "the server reports: you sent [key]", true},
	} {
		t.Run(fmt.Sprintf("%s %.40s", c.wire, c.want), func(t *testing.T) {
			b := serve(t, c.wire, sends(c.status, c.contentType, c.body))
			got, err := b.ask(nil, nil)
			var p interface{ Passing() bool }
			if !errors.As(err, &p) || err.Error() != c.want || p.Passing() != c.passing {
				t.Errorf("got %+v, %v\nwant %s (passing: %t)", got, err, c.want, c.passing)
			}
		})
	}
}

// TestRequests: what is asked arrives as the wires say it.
func TestRequests(t *testing.T) {
	warm := 0.5
	r := &llm.Request{
		System: "Be brief.", Messages: []llm.Message{{Role: llm.User, Text: "Hi"}, {Role: llm.Assistant, Text: "Yes?"}, {Role: llm.User, Text: "<b> & more"}},
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`), Temperature: &warm, MaxTokens: 50,
	}
	for wire, want := range map[llm.Wire]string{
		llm.OpenAI: `{"model":"m-1","stream":true,"temperature":0.5,"max_tokens":50,
			"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?"},{"role":"user","content":"<b> & more"}],
			"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":false,"schema":{"type":"object","properties":{"n":{"type":"integer"}}}}}}`,
		llm.Anthropic: `{"model":"m-1","stream":true,"temperature":0.5,"max_tokens":50,"system":"Be brief.",
			"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Yes?"},{"role":"user","content":"<b> & more"}],
			"tools":[{"name":"answer","description":"Gives the answer.","input_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}],
			"tool_choice":{"type":"tool","name":"answer","disable_parallel_tool_use":true}}`,
	} {
		var path string
		var header http.Header
		var body any
		b := serve(t, wire, func(w http.ResponseWriter, r *http.Request) {
			path, header = r.Method+" "+r.URL.Path, r.Header
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			http.Error(w, "enough", 400)
		})
		if _, err := b.ask(r, nil); err == nil || err.Error() != "400 Bad Request: enough" {
			t.Errorf("%s: %v", wire, err)
		}
		var wanted any
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, body); diff != "" {
			t.Errorf("%s (-want +got)\n%s", wire, diff)
		}
		signed := map[llm.Wire]bool{
			llm.OpenAI:    path == "POST /chat/completions" && header.Get("Authorization") == "Bearer "+key,
			llm.Anthropic: path == "POST /v1/messages" && header.Get("X-Api-Key") == key && header.Get("Anthropic-Version") == "2023-06-01" && header.Get("Authorization") == "",
		}
		if !signed[wire] || header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %s %v", wire, path, header)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for _, c := range []struct {
		wire      llm.Wire
		url, want string
	}{
		{llm.OpenAI, "", "https://api.openai.com/v1/chat/completions"},
		{llm.OpenAI, "http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"},
		{llm.Anthropic, "", "https://api.anthropic.com/v1/messages"},
		{llm.Anthropic, "https://gate.example/anthropic", "https://gate.example/anthropic/v1/messages"},
		{llm.Anthropic, "https://gate.example/v1/", "https://gate.example/v1/messages"},
	} {
		if got := (llm.Model{Wire: c.wire, URL: c.url}).Endpoint(); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.wire, c.url, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"http://localhost:11434/v1": "",
		"localhost:11434":           "must be an address",
		"ftp://x":                   "must be an address",
		"":                          "must be an address",
		"https://x/v1?key=1":        "key_env",
		"https://me:pw@x/v1":        "key_env",
		"https://api.openai.com/v1/chat/completions": "write https://api.openai.com/v1",
		"https://x/v1/messages":                      "write https://x/v1",
	} {
		err := llm.CheckURL(text)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestAnyPieces: a stream may be cut anywhere, in the midst of a letter too.
func TestAnyPieces(t *testing.T) {
	for wire, stream := range map[llm.Wire]string{llm.OpenAI: openAIStream, llm.Anthropic: anthropicStream} {
		at := 0
		b := serve(t, wire, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, stream[:at])
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, stream[at:])
		})
		for at = 1; at < len(stream); at += 7 {
			if got, err := b.ask(nil, nil); err != nil || got.Text != "Grüße, Wörld 🌍" {
				t.Fatalf("%s cut at %d: %+v, %v", wire, at, got, err)
			}
		}
	}
}

// TestTextComesAsItIsMade: the server sends on only when the first words have been heard, plain or compressed.
func TestTextComesAsItIsMade(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		heard := make(chan struct{})
		b := serve(t, llm.OpenAI, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", eventStream)
			var out io.Writer = w
			flush := func() {}
			if compressed {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				defer z.Close()
				out, flush = z, func() { _ = z.Flush() }
			}
			_, _ = io.WriteString(out, `data: {"choices":[{"delta":{"content":"one "}}]}`+"\n\n")
			flush()
			w.(http.Flusher).Flush()
			select {
			case <-heard:
			case <-r.Context().Done():
			}
			_, _ = io.WriteString(out, `data: {"choices":[{"delta":{"content":"two"},"finish_reason":"stop"}]}`+"\n\n")
		})
		got, err := b.ask(nil, func(s string) {
			if s == "one " {
				close(heard)
			}
		})
		if err != nil || got.Text != "one two" {
			t.Errorf("compressed %t: %+v, %v", compressed, got, err)
		}
	}
}

var errStop = errors.New("stopped by a person")

// TestTheRequestEndsWithItsContext: while the answer is awaited, and while it comes.
func TestTheRequestEndsWithItsContext(t *testing.T) {
	for _, first := range []string{"", "data: {}\n\n"} {
		reached, gone := make(chan struct{}), make(chan struct{})
		b := serve(t, llm.OpenAI, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // the server notices a client that leaves only then
			if first != "" {
				_, _ = io.WriteString(w, first)
				w.(http.Flusher).Flush()
			}
			close(reached)
			<-r.Context().Done()
			close(gone)
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { <-reached; cancel(errStop) }()
		_, err := b.client.Ask(ctx, b.model, key, &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello"}}}, nil)
		if !errors.Is(err, errStop) {
			t.Errorf("got %v", err)
		}
		<-gone
	}
}

// TestAResetIsOfTheNetwork: it is neither an answer nor a failure of one.
func TestAResetIsOfTheNetwork(t *testing.T) {
	b := serve(t, llm.Anthropic, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, anthropicStream[:len(anthropicStream)/2])
		w.(http.Flusher).Flush()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	})
	_, err := b.ask(nil, nil)
	var p interface{ Passing() bool }
	if err == nil || errors.As(err, &p) {
		t.Errorf("got %v", err)
	}
	b.model.URL = "http://127.0.0.1:1"
	if _, err := b.ask(nil, nil); err == nil || errors.As(err, &p) || strings.Contains(err.Error(), "Post") {
		t.Errorf("nobody there: %v", err)
	}
}

// TestAnEndlessAnswerIsRefused: in one line, in many, or as one value.
func TestAnEndlessAnswerIsRefused(t *testing.T) {
	for name, piece := range map[string][2]string{
		"line":   {"data: ", strings.Repeat("x", 64<<10)},
		"events": {"", strings.Repeat(`data: {"choices":[{"delta":{"content":"`+strings.Repeat("x", 60<<10)+`"}}]}`+"\n\n", 2)},
		"value":  {`{"choices":["`, strings.Repeat("x", 64<<10)},
	} {
		b := serve(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.WriteString(w, piece[0])
			for err == nil {
				_, err = io.WriteString(w, piece[1])
			}
		})
		b.client.MaxAnswer = 1 << 20
		_, err := b.ask(nil, nil)
		if err == nil || err.Error() != "the answer is longer than 1048576 bytes" {
			t.Errorf("%s: %.200v", name, err)
		}
	}
}

// TestTheKeyGoesNowhereElse: a redirect is not followed.
func TestTheKeyGoesNowhereElse(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the request was sent on") }))
	defer other.Close()
	b := serve(t, llm.OpenAI, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/chat/completions?"+r.Header.Get("Authorization"), http.StatusTemporaryRedirect)
	})
	_, err := b.ask(nil, nil)
	want := b.model.URL + "/chat/completions leads to " + other.URL + " (307): configure the url at which the model answers"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestAKeyThatCannotBeOne(t *testing.T) {
	b := serve(t, llm.OpenAI, func(http.ResponseWriter, *http.Request) { t.Error("the request was sent") })
	r := &llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello"}}}
	_, err := b.client.Ask(t.Context(), b.model, "two\nlines", r, nil)
	if err == nil || err.Error() != "the key holds characters that no key has: look at TEST_KEY" {
		t.Errorf("got %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	b := serve(t, llm.OpenAI, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "Sun, 29 Nov 2026 18:00:20 GMT")
		w.WriteHeader(429)
	})
	b.client.Now = func() time.Time { return time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC) }
	_, err := b.ask(nil, nil)
	var status *httpfail.Error
	if !errors.As(err, &status) || status.After != 20*time.Second || !status.Passing() {
		t.Errorf("got %v", err)
	}
}
