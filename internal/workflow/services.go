package workflow

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/llm"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// Services are what nodes reach beyond the machine they run on. The zero value knows no model.
type Services struct {
	Models    map[string]llm.Model             // by the names that llm nodes use, "default" among them
	ModelsIn  string                           // the file in which models are configured, for messages; "" is the configuration
	Transport http.RoundTripper                // of all requests; nil: http.DefaultTransport
	Getenv    func(name string) (string, bool) // of keys, and of env in templates; nil: os.LookupEnv
}

func (s *Services) getenv() func(string) (string, bool) {
	if s.Getenv != nil {
		return s.Getenv
	}
	return os.LookupEnv
}

// defaultModel is what files call the model that the configuration makes the default.
const defaultModel = "default"

// model is the model of a name. The error says what to configure.
func (s *Services) model(name string) (llm.Model, error) {
	if m, ok := s.Models[name]; ok {
		return m, nil
	}
	known := slices.Sorted(maps.Keys(s.Models))
	where := cmp.Or(s.ModelsIn, "the configuration")
	switch {
	case name == defaultModel && len(known) > 0:
		return llm.Model{}, fmt.Errorf("no model is the default: name one of %s in %s, as in models: {default: %s, ...}", strings.Join(known, ", "), where, known[0])
	case len(known) > 0:
		return llm.Model{}, fmt.Errorf("no model is called %q%s (known are %s); add it to models in %s", name, nearest.Hint(name, known), strings.Join(known, ", "), where)
	}
	return llm.Model{}, fmt.Errorf("no model is called %q, since none is configured: add models: {%s: {wire: openai or anthropic, model: NAME, key_env: VARIABLE}} to %s", name, name, where)
}
