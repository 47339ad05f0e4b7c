package config

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/duration"
	"github.com/hitl-tui/hitl-tui/internal/llm"
)

// Entry is one key of a configuration file as the documentation tells it.
type Entry struct {
	Key     string // with those around it: models.NAME.url, rules[].when
	Is      string // what its value is
	Default string // what holds without it; "" where that is nothing
	Env     string // the variable that goes before it, "" for none
	Flag    string // the flag that goes before both, "" for none
	Example string // a value, as YAML; "" of a key that only holds others
	About   string // a sentence without its full stop
}

// Reference lists every key, in the order in which a file is best read.
func Reference() []Entry {
	return append(append(settings(), lists()...), modelKeys()...)
}

const (
	aText   = "text"
	aSwitch = "true or false"
	aSpan   = "duration"
	aList   = "list of texts, or one"
)

func settings() []Entry {
	return []Entry{
		{"store", "URL", "sqlite: desk.db in $XDG_DATA_HOME/hitl-tui", "HITL_TUI_STORE", "--store", "sqlite:~/team.db", "Where threads are kept: sqlite:PATH, file:DIR, postgres://, redis://"},
		{"reviewer", aText, "the system user", "HITL_TUI_REVIEWER", "--reviewer", "ana", "Who decides"},
		{"workflows", aList, "workflows beside the configuration file", "", "", "[~/workflows, shared]", "Folders in which workflows are found by name, relative to this file"},
		{"grace", aSpan, duration.Format(DefaultGrace), "", "", "10s", "How long a decision of the desk can be taken back; 0s sends at once"},
		{"retention", "mapping", "", "", "", "", "What is pruned by itself, by an open desk and by sweep"},
		{"retention.older_than", aSpan, "keeps everything", "", "", "30d", "Steps older than this, but never the head of a thread"},
		{"retention.finished_before", aSpan, "keeps everything", "", "", "90d", "Whole threads that ended longer ago than this"},
		{"theme", aText, "default", "HITL_TUI_THEME", "", "high-contrast", "Colours of the desk; hitl-tui themes lists them"},
		{"mouse", aSwitch, "true", "", "", "false", "The desk takes the mouse"},
		{"bell", aSwitch, "true", "", "", "false", "Rings when a question comes while the window has not the focus"},
		{"notify", aSwitch, "false", "", "", "true", "Asks the terminal for a notification then"},
		{"reduced_motion", aSwitch, "false", "HITL_TUI_REDUCED_MOTION", "", "true", "Nothing counts down or moves by itself"},
		{"ascii", aSwitch, "true where the locale names another than UTF-8", "HITL_TUI_ASCII", "", "true", "Nothing else is drawn than ASCII"},
		{"accessible", aSwitch, "false", "", "--accessible", "true", "Plain questions and answers, line by line, for screen readers"},
		{"keys", "mapping", "", "", "", "", "Other keys for commands of the desk; hitl-tui keys lists scopes and commands"},
		{"keys.SCOPE.COMMAND", aList, "as in keys.md", "", "", "[ctrl+y, Y]", "The keys of a command, the one to show first; an empty list takes them away"},
		{"redact", "mapping, or off", "", "", "", "", "What is masked where threads are shown, logged or exported, beyond passwords, tokens and the like; off masks nothing"},
		{"redact.keys", aList, "", "", "", "[iban]", "Further keys whose values are secret, also as a part of a name"},
		{"redact.except", aList, "", "", "", "[token_count]", "Keys that are none, although they look so"},
		{"redact.patterns", aList, "", "", "", `['\bDE\d{20}\b']`, "Regular expressions (RE2) of what is masked in any text"},
	}
}

func lists() []Entry {
	var names []string
	for _, info := range actions.Table() {
		names = append(names, string(info.Action))
	}
	return []Entry{
		{"views", "list", "", "", "", "", "Filters kept under a name, for the desk"},
		{"views[].name", "name", "", "", "", "late", "Letters, digits and . _ -, at most 40; required"},
		{"views[].filter", "filter", "everything", "", "", "older:2d claimed:none", "In the language of threads --filter"},
		{"views[].tab", "waiting, running, failed, finished or all", "the one where one is", "", "", "waiting", "The tab it shows"},
		{"views[].sort", "due, waiting, updated or name", "as it is", "", "", "waiting", "The order"},
		{"rules", "list", "", "", "", "", "Answers that an open desk gives by itself: see rules.md"},
		{"rules[].name", "name", "", "", "", "small-claims", "Under which decisions are recorded, as rule:NAME; required"},
		{"rules[].when", "expression", "", "", "", `workflow == "expenses" && content.amount < 50`, "When it answers; required"},
		{"rules[].action", strings.Join(names, ", "), "", "", "", "approve", "The answer; required"},
		{"rules[].data", "any", "", "", "", "{note: small}", "What goes with the answer"},
		{"rules[].grace", aSpan, "as a person's", "", "", "30s", "How long its answer can be taken back"},
		{"hooks", "list", "", "", "", "", "Programs that an open desk runs when a question appears: see rules.md"},
		{"hooks[].name", "name", "", "", "", "tell", "What messages call it; required"},
		{"hooks[].when", "expression", "every question", "", "", `priority == "high"`, "For which questions"},
		{"hooks[].run", "list of texts", "", "", "", "[notify-send, A question]", "The program and its arguments, without a shell; the question is its standard input, as JSON; required"},
		{"hooks[].timeout", aSpan, duration.Format(DefaultHookTimeout), "", "", "5s", "After which it is ended"},
	}
}

func modelKeys() []Entry {
	var wires []string
	for _, w := range llm.Wires() {
		wires = append(wires, string(w))
	}
	return []Entry{
		{"models", "mapping", "", "", "", "", "Language models by the names that workflows use: see models.md"},
		{"models.default", "name of another model, or a model", "", "", "", "small", "The one that is asked where a workflow names none"},
		{"models.NAME", "mapping", "", "", "", "", "A model; its name has letters, digits and . _ : -, at most 64"},
		{"models.NAME.wire", strings.Join(wires, " or "), "", "", "", string(llm.OpenAI), "How it is spoken to; required"},
		{"models.NAME.model", aText, "", "", "", "llama3.2", "What the server calls it; required"},
		{"models.NAME.url", "URL", "the maker's", "", "", "http://localhost:11434/v1", "Where it is"},
		{"models.NAME.key_env", "name of a variable", "no key", "", "", "LOCAL_MODEL_KEY", "The environment variable that holds the key; a key stands in no file"},
		{"models.NAME.max_tokens", "whole number", "the model's", "", "", "2000", "How long an answer may be"},
	}
}

// Example is a configuration file in which every key stands with its example, and a comment that tells what it is.
func Example() string {
	var b strings.Builder
	b.WriteString("# Every key of the configuration of hitl-tui, with an example. All may be left out.\n")
	for _, e := range Reference() {
		depth := strings.Count(e.Key, ".")
		indent := strings.Repeat("  ", depth)
		name := e.Key[strings.LastIndexByte(e.Key, '.')+1:]
		switch {
		case e.Key == "keys.SCOPE.COMMAND":
			b.WriteString("  # " + e.About + "\n  review:\n    approve: " + e.Example + "\n")
			continue
		case name == "NAME":
			name = "small"
		case strings.HasSuffix(e.Key, "[].name"):
			indent, name = "  ", "- name"
		case strings.Contains(e.Key, "[]."):
			indent = "    "
		}
		if depth == 0 {
			b.WriteString("\n")
		}
		if !strings.HasPrefix(name, "- ") {
			b.WriteString(indent + "# " + e.About + "\n")
		}
		b.WriteString(strings.TrimRight(indent+name+": "+e.Example, " ") + "\n")
	}
	return b.String()
}
