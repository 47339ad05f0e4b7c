// Package llm asks language models over the two wires that nearly all of them speak: OpenAI's chat completions, which
// local servers speak too, and Anthropic's messages. An answer streams in as it is made.
//
// One call is one request: whether to try again, and when, is for the caller, whom errors tell by Passing. It knows
// nothing of workflows or of the configuration, and reads no environment.
package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Wire is the protocol that a server speaks.
type Wire string

// The wires.
const (
	OpenAI    Wire = "openai"    // POST URL/chat/completions
	Anthropic Wire = "anthropic" // POST URL/v1/messages
)

// Wires are all wires, in the order in which messages list them.
func Wires() []Wire { return []Wire{OpenAI, Anthropic} }

// Model is a model at a server.
type Model struct {
	Name      string // what the configuration calls it
	Wire      Wire
	URL       string // what the paths of the wire are added to; "" is the server of the wire's maker
	Model     string // what the server calls it
	KeyEnv    string // name of the environment variable that holds the key; "" for a server that asks for none
	MaxTokens int    // of an answer, where the request does not say; 0 is the server's limit, with Anthropic's wire 4096
}

// String names the model in messages.
func (m Model) String() string {
	if m.Name == m.Model || m.Name == "" {
		return "model " + m.Model
	}
	return fmt.Sprintf("model %s (%s)", m.Name, m.Model)
}

// Endpoint is the address to which requests go.
func (m Model) Endpoint() string {
	base := strings.TrimRight(m.URL, "/")
	if m.Wire == Anthropic {
		if base == "" {
			base = "https://api.anthropic.com"
		}
		return strings.TrimSuffix(base, "/v1") + "/v1/messages"
	}
	if base == "" {
		base = "https://api.openai.com/v1"
	}
	return base + "/chat/completions"
}

// CheckURL says what is wrong with the URL of a model.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("it must be an address such as http://localhost:11434/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("an address ends with its path: a key stands in no file and is named by key_env")
	}
	for _, path := range []string{"/chat/completions", "/messages"} {
		if base, is := strings.CutSuffix(strings.TrimRight(text, "/"), path); is {
			return fmt.Errorf("it is given without %s, which is added: write %s", path, base)
		}
	}
	return nil
}

// Role says who wrote a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"content"`
}

// Request is what a model is asked.
type Request struct {
	System      string    // "" none
	Messages    []Message // at least one
	Schema      json.RawMessage
	Temperature *float64 // nil: the server's default
	MaxTokens   int      // 0: the model's
}

// anthropicMaxTokens is the limit of an answer where nobody gave one: that wire demands one, and every model takes this.
const anthropicMaxTokens = 4096

// maxTokens is the limit of an answer, 0 for the server's own.
func (r *Request) maxTokens(m Model) int {
	limit := cmp.Or(r.MaxTokens, m.MaxTokens)
	if limit == 0 && m.Wire == Anthropic {
		return anthropicMaxTokens
	}
	return limit
}

// Answer is what the model answered.
type Answer struct {
	Text  string // with a schema JSON, which the server has promised and nobody has checked
	Usage Usage
}

// Usage is what an answer cost, in tokens; zero where the server does not say.
type Usage struct{ In, Out int }

// Failure is an answer that is none: an error in the midst of it, a refusal, an answer cut short.
type Failure struct {
	Message string
	passing bool
}

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// Passing reports whether another attempt may fare better.
func (f *Failure) Passing() bool { return f.passing }

func passing(format string, args ...any) error {
	return &Failure{Message: fmt.Sprintf(format, args...), passing: true}
}

func lasting(format string, args ...any) error {
	return &Failure{Message: fmt.Sprintf(format, args...)}
}

// cutOff is the failure of an answer that is longer than max tokens; 0 is the server's own limit.
func cutOff(max int) error {
	if max > 0 {
		return lasting("the answer was cut off at max_tokens (%d): raise max_tokens, or ask for less", max)
	}
	return lasting("the answer was cut off at the limit of the server: set max_tokens, or ask for less")
}
