package lang_test

import (
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// Deep nesting must neither overflow the stack, which no recover can catch, nor take long.
func TestDeepNesting(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("(", 10000) + "1" + strings.Repeat(")", 10000),
		strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
		strings.Repeat("-", 20000) + "1",
		strings.Repeat("urgent ? 1 : ", 5000) + "2",
		strings.Repeat("not ", 15000) + "urgent",
		"claim" + strings.Repeat(".x", 10000),
		"claim" + strings.Repeat("?.x", 20000),
		"1" + strings.Repeat("+1", 10000),
		strings.Repeat("let a = ", 8000) + "1",
		strings.Repeat("{a:", 20000) + "1" + strings.Repeat("}", 20000),
	} {
		if e, _ := lang.ParseExpr(s, names()); e != nil {
			_, _ = e.Eval(stateOf(t, object), engine.Value{})
		}
	}
	for _, s := range []string{
		strings.Repeat("{{if .urgent}}", 20000) + strings.Repeat("{{end}}", 20000),
		strings.Repeat("{{range .names}}", 20000) + strings.Repeat("{{end}}", 20000),
		"{{" + strings.Repeat("(", 20000) + ".notes" + strings.Repeat(")", 20000) + "}}",
		"{{" + strings.Repeat("(", 5000) + ".notes" + strings.Repeat(")", 5000) + "}}",
		"{{.claim" + strings.Repeat(".x", 30000) + "}}",
		"{{if .urgent}}" + strings.Repeat("{{else if .urgent}}", 20000) + "{{end}}",
		"{{.notes" + strings.Repeat(" | upper", 10000) + "}}",
	} {
		if tmpl, _ := lang.ParseTemplate(s, names()); tmpl != nil {
			_, _ = tmpl.Render(stateOf(t, object))
		}
	}
}
