package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/llm"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// defaultModel is the model that workflows call default: one of that name, or the name of another.
const defaultModel = "default"

var (
	modelName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// models reads {name: {wire, url, model, key_env, max_tokens}}, where default may be the name of another model.
func (d *decoder) models(v *node) {
	if v.kind != isMapping {
		d.fault(v.line, v.column, "models must be a mapping of names, not %s", v.kind)
		return
	}
	d.config.Models = map[string]llm.Model{}
	var meant *node // by default
	for _, m := range v.members {
		switch {
		case !modelName.MatchString(m.name):
			d.fault(m.line, m.column, "%q cannot be the name of a model: letters, digits and . _ : - only, at most 64", m.name)
		case m.name == defaultModel && m.value.kind == isScalar:
			meant = m.value
		default:
			d.config.Models[m.name] = d.model(m.name, m.value)
		}
	}
	if meant == nil {
		return
	}
	model, ok := d.config.Models[meant.text]
	if !ok {
		known := slices.Sorted(maps.Keys(d.config.Models))
		d.fault(meant.line, meant.column, "models.default: no model is called %q%s", meant.text, nearest.Hint(meant.text, known))
		return
	}
	d.config.Models[defaultModel] = model
}

func (d *decoder) model(name string, v *node) llm.Model {
	m, what := llm.Model{Name: name}, "models."+name
	if v.kind != isMapping {
		d.fault(v.line, v.column, "%s must be a mapping {wire, model, ...}, not %s", what, v.kind)
		return m
	}
	has := map[string]bool{}
	for _, x := range v.members {
		has[x.name] = true
		if slices.Contains(keyNames, x.name) {
			d.secretFault(x.line, x.column, "%s.%s: a key does not stand in a file: give key_env, the name of the environment variable that holds it", what, x.name)
		}
	}
	others := *v
	others.members = slices.DeleteFunc(slices.Clone(v.members), func(x member) bool { return slices.Contains(keyNames, x.name) })
	d.mapping(&others, what, []key{
		{"wire", func(v *node) { m.Wire = d.wire(v, what+".wire") }},
		{"url", func(v *node) { m.URL = d.modelURL(v, what+".url") }},
		{"model", func(v *node) { m.Model = d.text(v, what+".model") }},
		{"key_env", func(v *node) { m.KeyEnv = d.variable(v, what+".key_env") }},
		{"max_tokens", func(v *node) { m.MaxTokens = d.count(v, what+".max_tokens") }},
	})
	for _, needed := range []string{"wire", "model"} {
		if !has[needed] {
			d.fault(v.line, v.column, "%s needs %s", what, needed)
		}
	}
	return m
}

// keyNames are keys under which people write the key itself.
var keyNames = []string{"key", "api_key", "apikey", "api-key", "apiKey", "token", "secret"}

// secretFault is a fault on a line that is not to be shown.
func (d *decoder) secretFault(line, column int, format string, args ...any) {
	d.faults = append(d.faults, Fault{Line: line, Column: column, Message: fmt.Sprintf(format, args...), secret: true})
}

func (d *decoder) wire(v *node, what string) llm.Wire {
	text := d.text(v, what)
	var known []string
	for _, w := range llm.Wires() {
		if string(w) == text {
			return w
		}
		known = append(known, string(w))
	}
	if v.kind == isScalar && text != "" {
		d.fault(v.line, v.column, "%s: unknown wire %q%s (known are %s)", what, text, nearest.Hint(text, known), strings.Join(known, ", "))
	}
	return ""
}

func (d *decoder) modelURL(v *node, what string) string {
	text := d.text(v, what)
	if err := llm.CheckURL(text); err != nil && v.kind == isScalar && text != "" {
		d.secretFault(v.line, v.column, "%s: %v", what, err) // an address may hold a key
	}
	return text
}

// variable is the name of an environment variable. What is none may be the key itself, and is not repeated.
func (d *decoder) variable(v *node, what string) string {
	text := d.text(v, what)
	if v.kind == isScalar && text != "" && !variableName.MatchString(text) {
		d.secretFault(v.line, v.column, "%s must be the name of an environment variable, such as OPENAI_API_KEY", what)
	}
	return text
}

func (d *decoder) count(v *node, what string) int {
	n, err := strconv.Atoi(v.text)
	if v.kind != isScalar || err != nil || n < 1 {
		d.fault(v.line, v.column, "%s must be a whole number from 1, not %q", what, v.text)
	}
	return n
}
