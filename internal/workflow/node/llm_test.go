package node_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/llm"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

const apiKey = "sk-test-0123456789"

// model is an llm node that asks a server which streams pieces of text, and the body of the last request.
func model(t *testing.T, wire llm.Wire, pieces ...string) (*node.LLM, *map[string]any) {
	t.Helper()
	asked := &map[string]any{}
	url, transport := serve(t, func(w http.ResponseWriter, r *http.Request) {
		*asked = nil
		if err := json.NewDecoder(r.Body).Decode(asked); err != nil {
			t.Error(err)
		}
		if _, tools := (*asked)["tools"]; tools && wire == llm.Anthropic {
			_, _ = io.WriteString(w, `data: {"type":"content_block_start","content_block":{"type":"tool_use","name":"answer","input":{}}}`+"\n\n")
		}
		for _, piece := range pieces {
			chunk := map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": piece}}}}
			if wire == llm.Anthropic {
				chunk = map[string]any{"type": "content_block_delta", "delta": map[string]any{"type": "text_delta", "text": piece}}
				if _, tools := (*asked)["tools"]; tools {
					chunk["delta"] = map[string]any{"type": "input_json_delta", "partial_json": piece}
				}
			}
			raw, _ := json.Marshal(chunk)
			_, _ = fmt.Fprintf(w, "data: %s\n\n", raw)
			w.(http.Flusher).Flush()
		}
		end := `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":4}}` + "\n\ndata: [DONE]\n\n"
		if wire == llm.Anthropic {
			end = `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"output_tokens":4}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
		}
		_, _ = io.WriteString(w, end)
	})
	return &node.LLM{
		Model:     llm.Model{Name: "small", Wire: wire, URL: url, Model: "m-1", KeyEnv: "TEST_KEY"},
		Prompt:    text(t, "Say hello to {{.name}}"),
		Transport: transport,
		Getenv:    func(name string) (string, bool) { return apiKey, name == "TEST_KEY" },
	}, asked
}

func TestLLM(t *testing.T) {
	for _, wire := range llm.Wires() {
		n, asked := model(t, wire, "Hel", "lo, ", "Ada.\nHow are", " you?")
		warm := 0.0
		n.System, n.Temperature, n.MaxTokens = text(t, "You greet.\n"), &warm, 77
		call, emitted := callOn(t, `{"name":"Ada"}`)
		result, err := run(t, n, call)
		if err != nil || result.Output.Any() != "Hello, Ada.\nHow are you?" || result.Route != "" {
			t.Errorf("%s: %s, %v", wire, result.Output.JSON(), err)
		}
		if diff := cmp.Diff([]string{"Hello, Ada.", "How are you?", "(9 tokens in, 4 out)"}, emitted.all()); diff != "" {
			t.Errorf("%s: progress (-want +got)\n%s", wire, diff)
		}
		if (*asked)["temperature"] != 0.0 || (*asked)["max_tokens"] != 77.0 || !strings.Contains(fmt.Sprint(*asked), "You greet.") || !strings.Contains(fmt.Sprint(*asked), "Say hello to Ada") {
			t.Errorf("%s: asked %v", wire, *asked)
		}
	}
}

// TestMessages: a conversation as the desk keeps it, told as models know it.
func TestMessages(t *testing.T) {
	const talk = `[{"role":"system","text":"Be kind."},{"role":"customer","text":"Where is it?"},{"role":"human","text":"Say Monday.","by":"ana","at":"2026-11-29T18:00:00Z"},
		{"role":"assistant","text":"On Monday."},{"role":"user","text":" "},{"role":"user","text":"Thanks"}]`
	n, asked := model(t, llm.Anthropic, "ok")
	n.Prompt, n.System, n.Messages = nil, text(t, "Be brief."), expr(t, "talk")
	call, _ := callOn(t, `{"talk":`+talk+`}`)
	if _, err := run(t, n, call); err != nil {
		t.Fatal(err)
	}
	want := []any{
		map[string]any{"role": "user", "content": "Where is it?\n\nSay Monday."},
		map[string]any{"role": "assistant", "content": "On Monday."},
		map[string]any{"role": "user", "content": "Thanks"},
	}
	if diff := cmp.Diff(want, (*asked)["messages"]); diff != "" || (*asked)["system"] != "Be brief.\n\nBe kind." {
		t.Errorf("system %q, messages (-want +got)\n%s", (*asked)["system"], diff)
	}
}

func TestAnswersBySchema(t *testing.T) {
	for answer, want := range map[string]string{
		`{"n": 1}`:                   `{"n":1}`,
		"```json\n{\"n\": 1}\n```\n": `{"n":1}`,
		"```\n{\"n\": 1}```":         `{"n":1}`,
		`{"n": "1"}`:                 "!the answer does not fit schema: /n: must be a whole number, not a text",
		`{}`:                         `!the answer does not fit schema: /n: is required`,
		`[1]`:                        "!the answer does not fit schema: must be an object, not a list",
		`Sure! {"n": 1}`:             `!the answer is not one JSON value: invalid character 'S' looking for beginning of value, at byte 0: "Sure! {\"n\": 1}"`,
		`{"n": 1`:                    "!the answer is not one JSON value: unexpected end of JSON input",
	} {
		for _, wire := range llm.Wires() {
			n, _ := model(t, wire, answer[:len(answer)/2], answer[len(answer)/2:])
			n.Schema = literal(`{"properties":{"n":{"type":"integer"}},"required":["n"]}`)
			call, _ := callOn(t, `{"name":"Ada"}`)
			result, err := run(t, n, call)
			if message, fails := strings.CutPrefix(want, "!"); fails {
				if err == nil || !strings.HasPrefix(err.Error(), "model small (m-1): "+message) || permanent(err) {
					t.Errorf("%s %s: got %v\nwant %s", wire, answer, err, message)
				}
			} else if got := string(result.Output.JSON()); err != nil || got != want {
				t.Errorf("%s %s: got %s, %v", wire, answer, got, err)
			}
		}
	}
}

// TestLLMFaultsBeforeTheRequest: nothing is sent, and no retry mends it.
func TestLLMFaultsBeforeTheRequest(t *testing.T) {
	for want, change := range map[string]func(n *node.LLM){
		"system: .missing is null":             func(n *node.LLM) { n.System = text(t, "{{.missing}}") },
		"prompt: .missing is null":             func(n *node.LLM) { n.Prompt = text(t, "{{.missing}}") },
		"prompt: the text is empty":            func(n *node.LLM) { n.Prompt = text(t, " {{.text}}\n") },
		"messages: missing is null":            func(n *node.LLM) { n.Prompt, n.Messages = nil, expr(t, "missing") },
		"messages: name is no list":            func(n *node.LLM) { n.Prompt, n.Messages = nil, expr(t, "name") },
		"messages: nobody has said anything":   func(n *node.LLM) { n.Prompt, n.Messages = nil, expr(t, "[]") },
		"messages[1]: a message is":            func(n *node.LLM) { n.Prompt, n.Messages = nil, expr(t, "[{role: 'user', text: 'x'}, 'y']") },
		`messages[0]: unknown role "asistant"`: func(n *node.LLM) { n.Prompt, n.Messages = nil, expr(t, "[{role: 'asistant', text: 'x'}]") },
		"schema: missing is null":              func(n *node.LLM) { n.Schema = expr(t, "missing") },
		"schema: not a JSON Schema":            func(n *node.LLM) { n.Schema = literal(`{"type":"object","properties":{"n":{"typ":"x"}}}`) },
		"schema: it must be that of an object": func(n *node.LLM) { n.Schema = literal(`{"type":"array"}`) },
		"model small (m-1): the environment variable TEST_KEY, which the configuration names for the key, is not set": func(n *node.LLM) {
			n.Getenv = func(string) (string, bool) { return "", false }
		},
		"model small (m-1): the environment variable TEST_KEY": func(n *node.LLM) {
			n.Getenv = func(string) (string, bool) { return " \n", true }
		},
	} {
		n, _ := model(t, llm.OpenAI, "x")
		n.Transport = refusing{t}
		change(n)
		call, _ := callOn(t, `{"name":"Ada","text":""}`)
		if _, err := run(t, n, call); err == nil || !strings.HasPrefix(err.Error(), want) || !permanent(err) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestTheKeyIsNotRepeated: a server that sends the key back brings it neither into state nor into progress or errors.
func TestTheKeyIsNotRepeated(t *testing.T) {
	n, _ := model(t, llm.OpenAI, "You sent "+apiKey[:9], apiKey[9:]+", did you?")
	call, emitted := callOn(t, `{"name":"Ada"}`)
	result, err := run(t, n, call)
	if err != nil || result.Output.Any() != "You sent [key], did you?" || emitted.all()[0] != "You sent [key], did you?" {
		t.Errorf("%s %q %v", result.Output.JSON(), emitted.all(), err)
	}
	url, transport := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, r.Header.Get("Authorization"), 400) })
	n.Model.URL, n.Transport = url, transport
	if _, err := run(t, n, call); err == nil || err.Error() != "model small (m-1): 400 Bad Request: Bearer [key]" || !permanent(err) {
		t.Errorf("%v", err)
	}
}

// TestProgressOfALongText: people see words while a paragraph is being written, and no letter is torn.
func TestProgressOfALongText(t *testing.T) {
	word := "Wörter "
	for name, c := range map[string]struct{ piece, cut string }{
		"words":           {word, " "},
		"one endless one": {"ö", ""},
	} {
		var pieces []string
		for range 3000 {
			pieces = append(pieces, c.piece)
		}
		n, _ := model(t, llm.OpenAI, pieces...)
		call, emitted := callOn(t, `{"name":"Ada"}`)
		if _, err := run(t, n, call); err != nil {
			t.Fatal(err)
		}
		lines := emitted.all()
		lines = lines[:len(lines)-1] // the tokens
		for _, line := range lines {
			if len(line) > 4096 || strings.ContainsRune(line, '\ufffd') || strings.HasPrefix(line, " ") {
				t.Errorf("%s: %d bytes: %.30q", name, len(line), line)
			}
		}
		if got := strings.Join(lines, c.cut); strings.TrimRight(got, " ") != strings.TrimRight(strings.Join(pieces, ""), " ") || len(lines) < 2 {
			t.Errorf("%s: %d lines say something else", name, len(lines))
		}
	}
}
