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
		strings.Repeat("(", 3000) + "1" + strings.Repeat(")", 3000),
		strings.Repeat("[", 3000) + strings.Repeat("]", 3000),
		strings.Repeat("-", 6000) + "1",
		strings.Repeat("urgent ? 1 : ", 5000) + "2",
		strings.Repeat("not ", 5000) + "urgent",
		"claim" + strings.Repeat(".x", 3000),
		"claim" + strings.Repeat("?.x", 6000),
		"1" + strings.Repeat("+1", 3000),
		strings.Repeat("let a = ", 3000) + "1",
		strings.Repeat("{a:", 6000) + "1" + strings.Repeat("}", 6000),
	} {
		if e, _ := lang.ParseExpr(s, names()); e != nil {
			_, _ = e.Eval(stateOf(t, object), engine.Value{})
		}
	}
	for _, s := range []string{
		strings.Repeat("{{if .urgent}}", 6000) + strings.Repeat("{{end}}", 6000),
		strings.Repeat("{{range .names}}", 6000) + strings.Repeat("{{end}}", 6000),
		"{{" + strings.Repeat("(", 12000) + ".notes" + strings.Repeat(")", 12000) + "}}",
		"{{" + strings.Repeat("(", 5000) + ".notes" + strings.Repeat(")", 5000) + "}}",
		"{{.claim" + strings.Repeat(".x", 9000) + "}}",
		"{{if .urgent}}" + strings.Repeat("{{else if .urgent}}", 6000) + "{{end}}",
		"{{.notes" + strings.Repeat(" | upper", 3000) + "}}",
	} {
		if tmpl, _ := lang.ParseTemplate(s, names()); tmpl != nil {
			_, _ = tmpl.Render(stateOf(t, object))
		}
	}
}
