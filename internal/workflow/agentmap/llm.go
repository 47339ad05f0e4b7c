package agentmap

import (
	"slices"
	"strings"
)

// llmTypes are the agents that ask a language model.
func llmTypes() []string {
	return []string{"llm", "anthropic", "claude", "openai", "gpt", "chatgpt", "google", "gemini"}
}

// makeLLM makes an llm node. A prompt without fields is who the model is to be, and the inputs are what it is asked.
func makeLLM(t *translator, w *work, v *Value) {
	at := w.At
	if c := w.cells[Prompt].trimmed(); c.text != "" {
		at = c.at
	}
	v.put("llm", text(at, t.model(w)))
	source, filled := t.template(w.prompt, w.inputs)
	asked := make([]string, len(w.inputs))
	for i, x := range w.inputs {
		asked[i] = printedField(x.key, "")
		if len(w.inputs) > 1 || w.agent.name == "summary" {
			asked[i] = escaped(x.param, false) + ": " + asked[i]
		}
	}
	switch {
	case filled || len(w.inputs) == 0:
		v.put("prompt", text(at, source))
	case w.prompt == "":
		v.put("prompt", text(at, strings.Join(asked, "\n\n")))
	default:
		v.put("system", text(at, source))
		v.put("prompt", text(at, strings.Join(asked, "\n\n")))
	}
	if w.context != nil {
		for _, key := range []string{"temperature", "max_tokens"} {
			if x := w.context.get(key); x != nil && x.Shape == Bare && x.Text != "null" {
				v.put(key, x)
			}
		}
	}
	out := t.writes(w, "output")
	out.put(flag, text(w.At, "true"))
	v.put("output", out)
	t.lead(v, "then", w.edges.next())
	failure := w.edges.failure
	if len(failure) == 0 {
		failure = w.edges.edge // which AgentMap takes whatever happened
	}
	t.caught(w, v, failure)
}

// model is the name of the model: what the Context calls it, its provider, the type of the agent, else the default.
func (t *translator) model(w *work) string {
	var names []string
	if w.context != nil {
		for _, key := range []string{"model", "llm", "llm_provider", "provider"} {
			if x := w.context.get(key); x.isText() {
				names = append(names, x.Text)
			}
		}
	}
	if name := plainType(w.typed); slices.Contains(llmTypes(), name) && name != "llm" {
		names = append(names, name)
	}
	if t.options.Model == nil {
		names = append(names, "default")
		return names[0]
	}
	return t.options.Model(names)
}
