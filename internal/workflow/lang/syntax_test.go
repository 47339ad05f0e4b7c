package lang_test

import (
	"regexp"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// parserWords are words of the parsers below the two languages, which say nothing to a writer of workflows.
var parserWords = regexp.MustCompile(`token|operand|U\+|EOF|paren|syntax|unterminated|unclosed|bad character|pipeline`)

// TestSyntaxIsToldInPlainWords: what the parsers refuse is said without their own words, and with what to do.
func TestSyntaxIsToldInPlainWords(t *testing.T) {
	for source, want := range map[string]string{
		"{{.r}":           `a value ends with two braces: {{.name}}`,
		"{{.r }":          `a value ends with two braces: {{.name}}`,
		"{{{.r}}}":        `"{" has no meaning within braces: a value is written {{.name}}`,
		"{{}}":            `there is nothing within the braces: a value is written {{.name}}`,
		"{{end}}":         `{{end}} belongs to no if, range or with before it`,
		"{{else}}":        `{{else}} belongs to no if, range or with before it`,
		"{{if}}x{{end}}":  `if says nothing of what: {{if .name}}`,
		"{{$x}}":          `undefined variable "$x": set it first, as in {{$x := .name}}`,
		`{{"a }}`:         `a text within the braces has no second quote`,
		"{{.r == 1}}":     `a template compares with functions: {{if eq .name "x"}}, also ne, lt, le, gt, ge`,
		"{{.r + 1}}":      `a template does not calculate ("+"): do it in a set node, whose expressions do`,
		"{{.r-x}}":        `a template does not calculate ("-"), and a name has no "-": do it in a set node, whose expressions do`,
		"{{.r[0]}}":       `an item of a list is written {{index .name 0}}, not with [ ]`,
		"{{(.r}}":         `"(" is never closed`,
		"{{.r)}}":         `")" closes nothing`,
		"{{.r & 1}}":      `"&" has no meaning within braces`,
		"{{length .r}}":   `unknown function "length"; here that is "len"`,
		"{{.errors.x.z}}": `unknown name ".errors.x.z"; known are message, ended, by, comment, attempts, at`,
	} {
		_, faults := lang.ParseTemplate(source, lang.Names{Keys: []string{"r"}, Errors: []string{"x"}})
		plain(t, source, faults, want)
	}
	for source, want := range map[string]string{
		"r +* 1":       `"*" cannot stand here: it needs a value before it`,
		"r +":          `the expression is not complete`,
		"r.":           `the expression is not complete`,
		"r)":           `")" closes nothing, or a value is missing before it`,
		"r 1":          `"1" cannot stand here: an operator or a comma is missing before it`,
		"r 'a'":        `"a" cannot stand here: an operator or a comma is missing before it`,
		"r = 1":        `= does not compare: write ==`,
		"r is nil":     `"is" does not compare: write ==`,
		"r ?? 1 + 1":   `?? beside + needs brackets: (a ?? b) + c`,
		"r AND r":      `write and in small letters`,
		"r OR r":       `write or in small letters`,
		"r # 1":        `# is the item of filter, map, any and all, and stands only in their brackets`,
		"'abc":         `a text has no second quote`,
		"r @ 1":        `"@" has no meaning in an expression; a text needs quotes of its own`,
		"len()":        `this function takes another number of values: 1, not 0`,
		"length(r)":    `unknown function "length"; here that is "len"`,
		"trm(r)":       `unknown function "trm"; did you mean "trim"?`,
		"errors.x.msg": `unknown field "msg"; known are message, ended, by, comment, attempts, at`,
		"run.foo":      `unknown field "foo"; known are id, workflow, started`,
		"answers.b.by": `unknown field "b"; known are ask`,
	} {
		_, faults := lang.ParseExpr(source, lang.Names{Keys: []string{"r"}, Errors: []string{"x"}, Answers: map[string][]string{"ask": nil}})
		plain(t, source, faults, want)
	}
}

func plain(t *testing.T, source string, faults []lang.Fault, want string) {
	t.Helper()
	if len(faults) == 0 || faults[0].Message != want || parserWords.MatchString(faults[0].Message) {
		t.Errorf("%s: %v, want %s", source, faults, want)
	}
}
