package question_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

// TestFreshPayloadDocs: docs/payloads.md says what the table of shapes says, with payloads and answers that are tested.
func TestFreshPayloadDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString(payloadDocsHead)
	for _, f := range question.Formats() {
		if f.Shape == question.Native {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\nShape `%s`. Known by %s.\n", f.Title, f.Shape, f.Known)
		if f.Notes != "" {
			b.WriteString("\n" + f.Notes + "\n")
		}
		if f.Words != nil {
			b.WriteString("\n| action | its asker hears |\n|---|---|\n")
		}
		for _, a := range actions.All() {
			if i := slices.IndexFunc(f.Words, func(w question.Word) bool { return w.Action == a }); i >= 0 {
				fmt.Fprintf(&b, "| `%s` | %s |\n", a, code(f.Words[i].Says))
			}
		}
		writeExample(t, &b, f.Shape)
	}
	path := filepath.Join("..", "..", "docs", "payloads.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("run make generate: %s", diff)
	}
}

// code is JSON as code, and words as they are.
func code(says string) string {
	if strings.ContainsAny(says[:1], "{[\"") {
		return "`" + says + "`"
	}
	return says
}

// writeExample writes the first sample of a shape with its first answer.
func writeExample(t *testing.T, b *strings.Builder, shape question.Shape) {
	for _, s := range samples(t) {
		q, is := question.Recognise(s.payload, nil)
		if is != shape {
			continue
		}
		out, err := answer(q, shape, s.payload, s.answers[0])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "\n```json\n%s\n```\n\n`%s` is heard as\n\n```json\n%s\n```\n", strings.TrimSpace(string(s.payload)), s.answers[0], out)
		return
	}
}

const payloadDocsHead = `# Payloads of other systems

<!-- Generated from the table in internal/question by make generate. -->

A program with ` + "`protocol: json`" + ` may ask with the payload of another system, ` + "`{\"key\": KEY, \"payload\": PAYLOAD}`" + `, and hears the answer in that
system's own shape under ` + "`resume_inputs[KEY]`" + `, so an agent can be asked about from here without a change to how it reads answers. Each shape is
known by the keys named below and by nothing less; what else a payload holds is shown as context. A payload that no row takes is a question
all the same.

The fifteen actions mean the same everywhere. An action is offered where the payload's shape has a word for it, and the payload allows it. Beside
those a person can always do three things that are no answer: ` + "`retry`" + ` runs the program again from its start, ` + "`stop`" + ` ends the thread, and ` + "`cancel`" + `,
where the shape has no word for it, withdraws the question. Everything else is refused before anything is written.

Values keep their types: edited arguments stay JSON, forms are held against the schema that came with the payload, numbers keep their spelling.
Verdicts, forms and choices are written as for any other question: as text, as JSON or from a file (` + "`hitl-tui resume --help`" + `).

A time for the answer, counted from the asking, or by the clock with its zone, is the deadline of the question; of several parts the first. When it has
passed the question is marked overdue and can still be answered: only its asker knows whether it still listens. A time by the clock stands when a thread is
forked, and when it has passed by then, the fork's question waits for a person from the start.

A secret, a field that is ` + "`writeOnly`" + ` or of ` + "`format: password`" + `, is never echoed, kept as a draft or written into the outbox file. The record of
decisions and ` + "`answers`" + ` hold its length and its SHA-256 alone. The store holds it from the answer until the program that asked has run with it,
and longer only when that program goes on asking, since each of its runs hears all its answers.
`
