package workflow

import (
	"regexp"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/workflow/agentmap"
)

// maxName is the longest name in characters.
const maxName = 64

var (
	identifier   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	workflowName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

// reservedKeys cannot be state keys: names that templates and expressions know already, and the words of the
// expression language.
var reservedKeys = []string{
	"answers", "errors", "run", "output", "item", "index",
	"true", "false", "nil", "null", "not", "and", "or", "in", "let", "if", "else",
	"matches", "contains", "startsWith", "endsWith",
}

// reservedNodes cannot be nodes, in any case.
var reservedNodes = []string{"END", "START"}

// stateKey checks the name of a state key.
func (r *reader) stateKey(v *value) bool {
	return r.identifier(v, "a state key", slices.Contains(reservedKeys, v.text))
}

// nodeName checks the name of a node.
func (r *reader) nodeName(v *value) bool {
	if r.lenient {
		if !agentmap.NodeNameOK(v.text) {
			r.fault(v.at, "%q cannot be a node name: letters, digits, _, - and blanks, at most %d, and neither END nor START", v.text, maxName)
		}
		return agentmap.NodeNameOK(v.text)
	}
	return r.identifier(v, "a node name", slices.Contains(reservedNodes, strings.ToUpper(v.text)))
}

// questionName checks the name of a question.
func (r *reader) questionName(v *value) bool {
	return r.identifier(v, "a question name", false)
}

func (r *reader) identifier(v *value, what string, reserved bool) bool {
	switch name := v.text; {
	case reserved:
		r.fault(v.at, "%q is a reserved name: take another, such as my_%s", name, strings.ToLower(name))
	case name == "":
		r.fault(v.at, "%q cannot be %s: a name has at least one letter", name, what)
	case len(name) > maxName:
		r.fault(v.at, "%q cannot be %s: it is longer than %d characters", name, what, maxName)
	case name[0] >= '0' && name[0] <= '9':
		r.fault(v.at, "%q cannot be %s: it must begin with a letter or _", name, what)
	case !identifier.MatchString(name):
		r.fault(v.at, "%q cannot be %s: letters, digits and _ only", name, what)
	default:
		return true
	}
	return false
}

// nameT is a place for the name of the workflow.
type nameT struct{ text string }

func (p *nameT) take(r *reader, name string, v *value) {
	text, ok := r.scalar(name, "a name", v)
	switch {
	case !ok:
	case text == "" || len(text) > maxName || !workflowName.MatchString(text):
		r.fault(v.at, "%q cannot be the name of a workflow: letters, digits, . _ and - only, at most %d", text, maxName)
	default:
		p.text = text
	}
}

func (p *nameT) schema() schema {
	return schema{"type": "string", "pattern": workflowName.String(), "maxLength": maxName}
}

// keyT is a place for the name of a state key.
type keyT struct{ v *value }

func (p *keyT) take(r *reader, name string, v *value) {
	if _, ok := r.scalar(name, "a name", v); ok && r.stateKey(v) {
		p.v = v
	}
}

func (p *keyT) schema() schema { return ref("identifier") }
