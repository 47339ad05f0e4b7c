package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/httpfail"
)

// openAI is the wire of chat completions.
type openAI struct{}

type openAIRequest struct {
	Model          string          `json:"model"`
	Messages       []openAIMessage `json:"messages"`
	Stream         bool            `json:"stream"`
	StreamOptions  *streamOptions  `json:"stream_options,omitempty"`
	Temperature    *float64        `json:"temperature,omitempty"`
	MaxTokens      int             `json:"max_tokens,omitempty"`
	MaxCompletion  int             `json:"max_completion_tokens,omitempty"`
	ResponseFormat *responseFormat `json:"response_format,omitempty"`
}

type openAIMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

func (*openAI) body(m Model, r *Request) any {
	out := &openAIRequest{Model: m.Model, Stream: true, Temperature: r.Temperature}
	if r.System != "" {
		out.Messages = append(out.Messages, openAIMessage{"system", r.System})
	}
	for _, x := range r.Messages {
		out.Messages = append(out.Messages, openAIMessage{string(x.Role), x.Text})
	}
	// OpenAI's own newer models refuse the name of the limit that all other servers know, and some of those refuse
	// whatever they do not know.
	if host := m.host(); host == "api.openai.com" || strings.HasSuffix(host, ".openai.azure.com") {
		out.MaxCompletion, out.StreamOptions = r.maxTokens(m), &streamOptions{IncludeUsage: true}
	} else {
		out.MaxTokens = r.maxTokens(m)
	}
	if r.Schema != nil {
		out.ResponseFormat = &responseFormat{"json_schema", jsonSchema{"answer", strict(r.Schema), r.Schema}}
	}
	return out
}

func (*openAI) sign(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// openAIChunk is a part of a stream, or with a message in place of a delta the whole answer.
type openAIChunk struct {
	Choices []struct {
		Delta   openAIDelta `json:"delta"`
		Message openAIDelta `json:"message"`
		Reason  string      `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		In  int `json:"prompt_tokens"`
		Out int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type openAIDelta struct {
	Content   openAIContent     `json:"content"`
	Refusal   string            `json:"refusal"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

// openAIContent is a text, or with some servers a list of parts of which those of the type text are the answer.
type openAIContent string

// UnmarshalJSON implements json.Unmarshaler.
func (c *openAIContent) UnmarshalJSON(raw []byte) error {
	if !bytes.HasPrefix(raw, []byte("[")) {
		return json.Unmarshal(raw, (*string)(c))
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		if p.Type == "text" {
			*c += openAIContent(p.Text)
		}
	}
	return nil
}

func (o *openAI) take(data []byte, a *assembly) (done bool, err error) {
	if strings.TrimSpace(string(data)) == "[DONE]" {
		a.ended = a.ended || a.said.Len() > 0
		return true, nil
	}
	return false, o.whole(data, a)
}

func (*openAI) whole(data []byte, a *assembly) error {
	var c openAIChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return passing("the server sent what is no answer of this wire: %s", brief(string(data)))
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return serverError(data, c.Error)
	}
	if c.Usage.In > 0 {
		a.usage = Usage(c.Usage)
	}
	for _, x := range c.Choices[:min(len(c.Choices), 1)] {
		for _, d := range []openAIDelta{x.Delta, x.Message} {
			a.add(&a.said, string(d.Content))
			a.add(&a.refusal, d.Refusal)
			a.tool = a.tool || len(d.ToolCalls) > 0
		}
		if x.Reason != "" {
			a.ended, a.stop = true, openAIEnding(x.Reason)
		}
	}
	return nil
}

// openAIEnding understands why an answer ended. Servers have words of their own for an answer that is complete.
func openAIEnding(reason string) ending {
	switch reason {
	case "length":
		return outOfTokens
	case "content_filter":
		return refused
	case "tool_calls", "function_call":
		return wantsTool
	case "error":
		return broken
	}
	return finished
}

// serverError is an error that came in place of an answer, or in the midst of it. What is wrong with the request stays
// wrong; anything else may pass.
func serverError(data, inner json.RawMessage) error {
	var e struct {
		Type string `json:"type"`
		Code any    `json:"code"`
	}
	_ = json.Unmarshal(inner, &e) // an error that is a mere text has neither
	code, _ := e.Code.(string)
	status, _ := e.Code.(float64)
	message := httpfail.Said(data, nil)
	if e.Type != "" && e.Type != "error" {
		message += " (" + brief(e.Type) + ")"
	}
	for _, word := range []string{e.Type, code} {
		switch word {
		case "invalid_request_error", "authentication_error", "permission_error", "not_found_error", "request_too_large",
			"billing_error", "insufficient_quota", "invalid_api_key", "context_length_exceeded", "model_not_found":
			return lasting("the server reports: %s", message)
		}
	}
	if status >= 400 && !httpfail.Passing(int(status)) {
		return lasting("the server reports: %s", message)
	}
	return passing("the server reports: %s", message)
}

// brief is the beginning of a text on one line, safe to show.
func brief(text string) string {
	const most = 200
	text = httpfail.Said([]byte(text), nil)
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
