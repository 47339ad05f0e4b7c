package workflow

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/workflow/agentmap"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// generatedPart is a part of a page that a table makes.
var generatedPart = regexp.MustCompile(`(?s)(<!-- generated: ([a-z ]+) -->\n).*?(<!-- end -->)`)

// TestReferenceIsFresh: docs/workflows.md, docs/programs.md and docs/agentmap.md have every table, as the code has it.
func TestReferenceIsFresh(t *testing.T) {
	parts := referenceParts()
	used := map[string]bool{}
	for _, page := range []string{"../../docs/workflows.md", "../../docs/programs.md", "../../docs/agentmap.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		fresh := generatedPart.ReplaceAllStringFunc(string(text), func(part string) string {
			m := generatedPart.FindStringSubmatch(part)
			used[m[2]] = true
			if parts[m[2]] == "" {
				t.Errorf("%s: nothing makes the part %q", page, m[2])
			}
			return m[1] + parts[m[2]] + m[3]
		})
		golden(t, page, []byte(fresh))
	}
	for name := range parts {
		if !used[name] {
			t.Errorf("no page has the part %q", name)
		}
	}
}

func referenceParts() map[string]string {
	return map[string]string{
		"top level":            keyTable(fileKeys()),
		"kinds":                kindTable(),
		"every node":           keyTable(slices.Concat(commonKeys(), []key[nodeDef]{outputKey()})),
		"keys of kinds":        keysOfKinds(),
		"retry policy":         keyTable(retryKeys()),
		"question":             keyTable(namedQuestionKeys()),
		"option":               keyTable(optionKeys()),
		"question kinds":       questionKinds(),
		"actions":              actionTable(),
		"joins":                table([]string{"join", "the node runs"}, wordRows(joins())),
		"reducers":             table([]string{"reducer", "merges"}, wordRows(reducers())),
		"answer fields":        wordTable("field", lang.AnswerFields()),
		"error fields":         wordTable("field", lang.ErrorFields()),
		"run fields":           wordTable("field", lang.RunFields()),
		"template functions":   wordTable("function", lang.TemplateFunctions()),
		"expression functions": wordTable("function", lang.ExpressionFunctions()),
		"request":              memberTable(node.RequestMembers()),
		"reply":                memberTable(node.ReplyMembers()),
		"variables":            memberTable(node.Variables()),
		"agentmap columns":     columnTable(),
		"agentmap agents":      agentTable(),
	}
}

// table is a table of Markdown.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	for i, row := range append([][]string{head, slices.Repeat([]string{"---"}, len(head))}, rows...) {
		for j, cell := range row {
			if cell = strings.ReplaceAll(cell, "|", `\|`); i > 1 && j == 0 {
				cell = "`" + cell + "`"
			}
			b.WriteString("| " + cell + " ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}

func keyTable[M any](keys []key[M]) string {
	var rows [][]string
	for _, k := range keys {
		doc := k.doc
		if k.required {
			doc += "; required"
		}
		rows = append(rows, []string{k.name, doc})
	}
	return table([]string{"key", "value (default)"}, rows)
}

func kindTable() string {
	routes := map[routing]string{noRoute: "", actionRoute: "the action", exitRoute: "the exit code", statusRoute: "the HTTP status"}
	var rows [][]string
	for _, k := range kinds() {
		rows = append(rows, []string{k.name, k.doc, routes[k.routes]})
	}
	return table([]string{"kind", "its value", "its route"}, rows)
}

// keysOfKinds has a table for each kind with keys of its own; those of a question have a chapter of theirs.
func keysOfKinds() string {
	var b strings.Builder
	for _, k := range kinds() {
		if len(k.own) > 0 && k.name != humanKind {
			fmt.Fprintf(&b, "`%s`\n\n%s\n", k.name, keyTable(k.own))
		}
	}
	return b.String()
}

func questionKinds() string {
	var rows [][]string
	for _, kind := range actions.Kinds() {
		rows = append(rows, []string{string(kind), strings.Join(needs[kind], ", "), strings.Join(texts(actions.Defaults(kind)), " ")})
	}
	return table([]string{"kind", "needs", "allows, where `actions` does not say"}, rows)
}

func actionTable() string {
	var rows [][]string
	for _, info := range actions.Table() {
		rows = append(rows, []string{string(info.Action), info.Summary})
	}
	return table([]string{"action", "without a route of its own"}, rows)
}

func columnTable() string {
	var rows [][]string
	for _, c := range agentmap.Columns() {
		rows = append(rows, []string{c.Name, strings.Join(c.Aliases, ", "), c.Doc})
	}
	return table([]string{"column", "also called", "is"}, rows)
}

func agentTable() string {
	var rows [][]string
	for _, a := range agentmap.Agents() {
		rows = append(rows, []string{a.Name, a.Doc})
	}
	return table([]string{"AgentType", "does"}, rows)
}

func wordRows(list []meaning) (rows [][]string) {
	for _, w := range list {
		rows = append(rows, []string{w.name, w.doc})
	}
	return rows
}

func wordTable(head string, list []lang.Word) string {
	var rows [][]string
	for _, w := range list {
		rows = append(rows, []string{w.Form, w.Doc})
	}
	return table([]string{head, "is"}, rows)
}

func memberTable(list []node.Member) string {
	var rows [][]string
	for _, m := range list {
		rows = append(rows, []string{m.Name, m.Doc})
	}
	return table([]string{"name", "is"}, rows)
}
