package llm

import (
	"encoding/json"
	"net/http"
)

// anthropicVersion is the version of the wire.
const anthropicVersion = "2023-06-01"

// anthropic is the wire of messages. JSON is asked for by a tool that must be called, once: of further calls, which a
// server may make all the same, nothing is taken.
type anthropic struct {
	calls int // of the tool, so far
}

type anthropicRequest struct {
	Model       string           `json:"model"`
	MaxTokens   int              `json:"max_tokens"`
	System      string           `json:"system,omitempty"`
	Messages    []Message        `json:"messages"`
	Stream      bool             `json:"stream"`
	Temperature *float64         `json:"temperature,omitempty"`
	Tools       []anthropicTool  `json:"tools,omitempty"`
	ToolChoice  *anthropicChoice `json:"tool_choice,omitempty"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type anthropicChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Once bool   `json:"disable_parallel_tool_use"`
}

func (*anthropic) body(m Model, r *Request) any {
	out := &anthropicRequest{
		Model: m.Model, MaxTokens: r.maxTokens(m), System: r.System, Messages: r.Messages, Stream: true, Temperature: r.Temperature,
	}
	if r.Schema != nil {
		out.Tools = []anthropicTool{{"answer", "Gives the answer.", r.Schema}}
		out.ToolChoice = &anthropicChoice{"tool", "answer", true}
	}
	return out
}

func (*anthropic) sign(h http.Header, key string) {
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	h.Set("Anthropic-Version", anthropicVersion)
}

// anthropicEvent is an event of a stream, or a whole answer (type message).
type anthropicEvent struct {
	anthropicMessage
	Message anthropicMessage `json:"message"`
	Block   anthropicBlock   `json:"content_block"`
	Delta   struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		JSON    string `json:"partial_json"`
		Stopped string `json:"stop_reason"`
	} `json:"delta"`
	Error json.RawMessage `json:"error"`
}

type anthropicMessage struct {
	Type    string           `json:"type"`
	Content []anthropicBlock `json:"content"`
	Stopped string           `json:"stop_reason"`
	Usage   anthropicUsage   `json:"usage"`
}

type anthropicBlock struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Input json.RawMessage `json:"input"`
}

type anthropicUsage struct {
	In  int `json:"input_tokens"`
	Out int `json:"output_tokens"`
}

func (w *anthropic) take(data []byte, a *assembly) (done bool, err error) {
	var e anthropicEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return false, passing("the server sent what is no answer of this wire: %s", brief(string(data)))
	}
	switch e.Type {
	case "message_start":
		a.count(e.Message.Usage)
	case "content_block_start":
		switch e.Block.Type {
		case "text":
			a.add(&a.said, e.Block.Text)
		case "tool_use":
			w.call(a)
		}
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			a.add(&a.said, e.Delta.Text)
		case "input_json_delta":
			w.argue(a, e.Delta.JSON)
		}
	case "message_delta":
		a.count(e.Usage)
		a.stop = anthropicEnding(e.Delta.Stopped)
	case "message_stop":
		a.ended = true
		return true, nil
	case "error":
		return false, serverError(data, e.Error)
	}
	return false, nil // a ping, or an event of a later version
}

// call begins a call of the tool.
func (w *anthropic) call(a *assembly) {
	w.calls++
	a.tool = true
}

// argue takes a part of the arguments of the call that began last.
func (w *anthropic) argue(a *assembly, part string) {
	if w.calls == 1 {
		a.add(&a.json, part)
	}
}

func (w *anthropic) whole(data []byte, a *assembly) error {
	var e anthropicEvent
	if err := json.Unmarshal(data, &e); err != nil || e.Type != "message" && e.Type != "error" {
		return passing("the server sent what is no answer of this wire: %s", brief(string(data)))
	}
	if e.Type == "error" {
		return serverError(data, e.Error)
	}
	for _, b := range e.Content {
		switch b.Type {
		case "text":
			a.add(&a.said, b.Text)
		case "tool_use":
			w.call(a)
			w.argue(a, string(b.Input))
		}
	}
	a.count(e.Usage)
	a.ended, a.stop = true, anthropicEnding(e.Stopped)
	return nil
}

// count takes over what the server says an answer cost so far.
func (a *assembly) count(u anthropicUsage) {
	a.usage = Usage{max(a.usage.In, u.In), max(a.usage.Out, u.Out)}
}

func anthropicEnding(reason string) ending {
	switch reason {
	case "max_tokens":
		return outOfTokens
	case "model_context_window_exceeded":
		return outOfContext
	case "refusal":
		return refused
	case "tool_use":
		return wantsTool
	case "pause_turn":
		return broken
	}
	return finished
}
