package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/llm"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// LLM asks a language model. The output is its text, with a schema an object. What the model says is progress while it
// says it.
type LLM struct {
	Model       llm.Model
	System      *lang.Template
	Prompt      *lang.Template // nil: Messages
	Messages    *lang.Expr     // a list of {role, text}
	Schema      *lang.Expr     // of an object; nil: the answer is a text
	Temperature *float64       // nil: the server's default
	MaxTokens   int            // 0: that of the model
	Transport   http.RoundTripper
	Getenv      func(name string) (string, bool) // where the key is
}

// Run implements engine.Runner.
func (n *LLM) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	scope := newScope(call)
	request, err := n.request(scope)
	if err != nil {
		return engine.Result{}, engine.Permanent(err)
	}
	var schema *actions.Schema
	if n.Schema != nil {
		if schema, request.Schema, err = n.schema(scope); err != nil {
			return engine.Result{}, engine.Permanent(err)
		}
	}
	key, err := n.key()
	if err != nil {
		return engine.Result{}, engine.Permanent(fmt.Errorf("%s: %w", n.Model, err))
	}
	client := llm.Client{Transport: n.Transport, Now: scope.Now}
	hide := hiding(key)
	talk := &talk{emit: call.Emit, hide: hide}
	answer, err := client.Ask(ctx, n.Model, key, request, talk.add)
	talk.flush()
	if err != nil {
		return engine.Result{}, exchangeError(ctx, n.Model.String(), err)
	}
	if u := answer.Usage; u != (llm.Usage{}) && call.Emit != nil {
		call.Emit(fmt.Appendf(nil, "(%d tokens in, %d out)", u.In, u.Out))
	}
	output, err := read(hide(answer.Text), schema)
	if err != nil {
		return engine.Result{}, fmt.Errorf("%s: %w", n.Model, err)
	}
	return engine.Result{Output: output}, nil
}

// hiding takes the key out of what a server sends back.
func hiding(key string) func(string) string {
	key = strings.TrimSpace(key)
	return func(text string) string {
		if key == "" {
			return text
		}
		return strings.ReplaceAll(text, key, "[key]")
	}
}

// key is the key of the model, "" where it needs none.
func (n *LLM) key() (string, error) {
	name := n.Model.KeyEnv
	if name == "" {
		return "", nil
	}
	key, _ := n.Getenv(name)
	if strings.TrimSpace(key) == "" {
		return "", fmt.Errorf("the environment variable %s, which the configuration names for the key, is not set", name)
	}
	return key, nil
}

func (n *LLM) request(scope *callScope) (*llm.Request, error) {
	system, err := scope.render("system", n.System)
	if err != nil {
		return nil, err
	}
	r := &llm.Request{System: strings.TrimSpace(system), Temperature: n.Temperature, MaxTokens: n.MaxTokens}
	if n.Prompt != nil {
		prompt, err := scope.render("prompt", n.Prompt)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(prompt) == "" {
			return nil, errors.New("prompt: the text is empty")
		}
		r.Messages = []llm.Message{{Role: llm.User, Text: prompt}}
		return r, nil
	}
	v, err := scope.eval("messages", n.Messages)
	if err != nil {
		return nil, err
	}
	list, ok := v.Any().([]any)
	switch {
	case v.IsNull():
		return nil, fmt.Errorf("messages: %s is null", n.Messages.Source())
	case !ok:
		return nil, fmt.Errorf("messages: %s is no list of {role, text}", n.Messages.Source())
	}
	for i, item := range list {
		if err := addMessage(r, item); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(r.Messages) == 0 {
		return nil, errors.New("messages: nobody has said anything yet")
	}
	return r, nil
}

// addMessage adds a message of a conversation. Whoever is neither the assistant nor the system is a user to the model: a
// customer, say, or the person at the desk. What one side says in a row is one message, as models expect.
func addMessage(r *llm.Request, item any) error {
	m, _ := item.(map[string]any)
	role, hasRole := m["role"].(string)
	text, hasText := m["text"].(string)
	switch {
	case !hasRole || !hasText:
		return errors.New("a message is {role, text}, both of them texts")
	case strings.TrimSpace(text) == "":
		return nil
	}
	as := llm.User
	switch role {
	case "system":
		r.System = strings.TrimSpace(r.System + "\n\n" + text)
		return nil
	case string(llm.Assistant):
		as = llm.Assistant
	case string(llm.User):
	default:
		if near, ok := nearest.Name(role, []string{"assistant", "system", "user"}); ok {
			return fmt.Errorf("unknown role %q; did you mean %q?", role, near)
		}
	}
	if last := len(r.Messages) - 1; last >= 0 && r.Messages[last].Role == as {
		r.Messages[last].Text += "\n\n" + text
		return nil
	}
	r.Messages = append(r.Messages, llm.Message{Role: as, Text: text})
	return nil
}

// schema is the schema by which an answer is checked, and as it is sent: of an object, which both wires demand.
func (n *LLM) schema(scope *callScope) (*actions.Schema, json.RawMessage, error) {
	v, err := scope.eval("schema", n.Schema)
	if err != nil {
		return nil, nil, err
	}
	if v.IsNull() {
		return nil, nil, fmt.Errorf("schema: %s is null", n.Schema.Source())
	}
	raw, err := ofObject(v.JSON())
	if err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	compiled, err := actions.CompileSchema(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("schema: %w", err)
	}
	return compiled, raw, nil
}

// ofObject is a schema that says that it is of an object, which is understood where it lists properties.
func ofObject(raw json.RawMessage) (json.RawMessage, error) {
	var top map[string]json.RawMessage
	kind := ""
	if json.Unmarshal(raw, &top) == nil {
		kind = string(top["type"])
	}
	switch {
	case kind == `"object"`:
		return raw, nil
	case kind != "" || top["properties"] == nil:
		return nil, errors.New("it must be that of an object: {type: object, properties: ...}")
	}
	top["type"] = json.RawMessage(`"object"`)
	return json.Marshal(top)
}

// read makes the output of an answer.
func read(text string, schema *actions.Schema) (engine.Value, error) {
	if schema == nil {
		return engine.ValueOf(text)
	}
	raw := []byte(withoutFence(text))
	v, err := parseJSON(raw)
	if err != nil {
		return v, fmt.Errorf("the answer %w", err)
	}
	if err := schema.Check(raw); err != nil {
		return v, fmt.Errorf("the answer does not fit schema: %w", err)
	}
	return v, nil
}

// withoutFence takes away the marks of a block of code, which models put around JSON where a server does not keep them
// from it.
func withoutFence(text string) string {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutSuffix(text, "```")
	first, rest, more := strings.Cut(inner, "\n")
	if ok && more && (first == "```json" || first == "```") {
		return rest
	}
	return text
}

// talk makes lines of the pieces in which an answer comes, for people to follow. A paragraph is broken between words,
// so that it does not appear only when it is complete.
type talk struct {
	emit func([]byte)        // may be nil
	hide func(string) string // takes secrets out
	line []byte
}

// talkWidth is the number of bytes from which a line is broken.
const talkWidth = 100

func (t *talk) add(text string) {
	if t.emit == nil {
		return
	}
	for _, part := range strings.SplitAfter(text, "\n") {
		t.line = append(t.line, part...)
		if strings.HasSuffix(part, "\n") {
			t.flush()
			continue
		}
		t.wrap()
	}
}

// wrap hands on whole words of a long line; what has no words in it is broken between letters.
func (t *talk) wrap() {
	for len(t.line) > talkWidth {
		cut := bytes.LastIndexByte(t.line[:talkWidth+1], ' ')
		if cut <= 0 {
			cut = bytes.IndexByte(t.line[1:], ' ') + 1
		}
		if cut <= 0 && len(t.line) <= maxProgressLine {
			return
		}
		if cut <= 0 {
			for cut = maxProgressLine; !utf8.RuneStart(t.line[cut]); cut-- {
			}
		}
		t.say(t.line[:cut])
		t.line = append(t.line[:0], bytes.TrimPrefix(t.line[cut:], []byte(" "))...)
	}
}

// flush hands on the line as far as it has come.
func (t *talk) flush() {
	t.say(t.line)
	t.line = t.line[:0]
}

func (t *talk) say(line []byte) {
	if text := strings.TrimRight(string(line), "\r\n"); text != "" && t.emit != nil {
		t.emit([]byte(t.hide(text)))
	}
}
