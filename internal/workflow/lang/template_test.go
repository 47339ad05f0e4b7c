package lang_test

import (
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

func TestRender(t *testing.T) {
	scope := stateOf(t, object)
	for _, c := range []struct{ source, want string }{
		{"plain { } text", "plain { } text"},
		{"{{.notes}} {{.amount}} {{.price}} {{.urgent}}", "Hello 240 12.5 true"},
		{"{{.big}} {{.tiny}}", "1000000000000000000000 0.0000001"},
		{"{{.names}} {{.claim}} {{.items}}", `["a","b","c"] {"amount":"1900","person":"Ada"} [{"n":1,"s":"x"},{"n":2.5,"s":"y"}]`},
		{"{{.html}} {{json .html}} {{json .claim}} {{json .missing}}", `<a&b> "<a&b>" {"amount":"1900","person":"Ada"} null`},
		{"{{.claim.person}}: {{index .claim \"amount\"}}", "Ada: 1900"},
		{"{{range .names}}- {{.}} of {{$.since}}\n{{end}}", "- a of v1\n- b of v1\n- c of v1\n"},
		{"{{range $i, $n := .names}}{{$i}}{{$n}}{{end}}", "0a1b2c"},
		{"{{range .items}}{{.s}}{{.n}}{{.nothing | default \"-\"}}{{end}}", "x1-y2.5-"},
		{"{{range .missing}}x{{else}}none{{end}}{{range .none}}x{{else}}none{{end}}", "nonenone"},
		{"{{with .answers.review.comment}}Feedback: {{.}}{{end}}", "Feedback: Shorter"},
		{"{{with .answers.review}}{{.by}}{{end}}{{with .answers.confirm.name.comment}}x{{else}}no{{end}}", "adano"},
		{"{{with .missing}}x{{end}}{{if .missing}}x{{end}}{{if not .missing}}y{{end}}", "y"},
		{"{{if gt .amount 100}}high{{else}}normal{{end}}", "high"},
		{"{{if gt .amount 100.5}}a{{end}}{{if lt .price .limit}}b{{end}}{{if ge .limit 100}}c{{end}}{{if le 100 .limit}}d{{end}}", "abcd"},
		{"{{eq .limit 100}} {{ne .amount 240.0}} {{eq .notes \"x\" \"Hello\"}} {{eq .missing nil}} {{eq .names .names}} {{eq .amount \"240\"}}", "true false true true true false"},
		{"{{and .urgent .notes}} {{or .missing .empty \"z\"}} {{not .urgent}}", "Hello z false"},
		{"{{len .names}} {{len .umlaut}} {{len .claim}}", "3 5 2"},
		{"{{slice .names 1}} {{slice .umlaut 1 4}} {{slice .names 0 0}}", `["b","c"] rüß []`},
		{"{{printf \"%03d|%s|%.2f\" .amount .notes .price}} {{printf \"%s\" .names}}", `240|Hello|12.50 ["a","b","c"]`},
		{"{{range lines .text}}[{{.}}]{{end}} {{lines .names}}", "[one][two][][three] a\nb\nc"},
		{"{{join \", \" .names}} {{.names | join \"+\"}}", "a, b, c a+b+c"},
		{"{{upper .notes}}{{lower .notes}}{{trim \"  x \"}}{{replace \"l\" \"L\" .notes}}", "HELLOhelloxHeLLo"},
		{"{{indent 2 .text}}", "  one\n  two\n\n  three"},
		{"{{truncate 3 .umlaut}} {{truncate 5 .umlaut}}", "Gr… Grüße"},
		{"{{number 2 .amount}} {{number 0 .price}} {{number 1 .tiny}}", "240.00 12 0.0"},
		{"{{(first .talk).text}} {{(last .talk).text}} {{with first .none}}x{{else}}none{{end}}", "Hi Yo none"},
		{"{{$last := last .talk}}{{$last.role}}{{if eq $last.role \"customer\"}}!{{else}}?{{end}}", "human?"},
		{"{{date \"2 January 2006\" .when}} {{date \"15:04\" .answers.review.at}}", "29 November 2026 18:00"},
		{"{{default \"-\" .missing}}{{default \"-\" .empty}}{{default \"-\" .count}}", "--0"},
		{"{{.errors.verify.message}} {{.errors.verify.attempts}} {{.run.id}} {{.run.workflow}}", "exit code 1 3 t-1 w"},
		{"{{/* a comment */}}{{- .notes -}}  x", "Hellox"},
		{"{{with $x := .notes}}{{$x}}{{end}}{{$y := 1}}{{$y = 2}}{{$y}}", "Hello2"},
		{"{{len (slice .names 1)}}{{(index .items 1).s | upper}}", "2Y"},
		{"{{with .claim}}{{.person}} {{$.amount}} {{with .person}}{{.}}{{end}}{{end}}", "Ada 240 Ada"},
		{"{{range .names}}{{if eq . \"b\"}}{{continue}}{{end}}{{.}}{{end}}{{range .names}}{{break}}{{end}}", "ac"},
	} {
		tmpl, faults := lang.ParseTemplate(c.source, names())
		if len(faults) > 0 {
			t.Errorf("%s: %v", c.source, faults)
			continue
		}
		if got, err := tmpl.Render(scope); err != nil || got != c.want {
			t.Errorf("%s\n got %q, %v\nwant %q", c.source, got, err, c.want)
		}
		if tmpl.Source() != c.source {
			t.Errorf("Source() = %q, want %q", tmpl.Source(), c.source)
		}
	}
}

func TestRenderErrors(t *testing.T) {
	scope := stateOf(t, object)
	for _, c := range []struct{ source, want string }{
		{"{{.missing}}", `.missing is null, and a null is not printed; {{default "-" .missing}} prints another text in its place`},
		{"{{.claim.nobody}}", ".claim.nobody is null"},
		{"{{.answers.confirm.name.value}}", ".answers.confirm.name.value is null"},
		{"{{range .items}}{{.nothing}}{{end}}", ".nothing is null"},
		{"{{index .claim \"x\"}}", `index .claim "x" is null`},
		{"{{.notes.length}}", `.notes.length: there is no field "length" in text (.notes)`},
		{"{{range .notes}}{{end}}", "range .notes: it is text, not a list"},
		{"{{range .amount}}{{end}}", "range .amount: it is a number, not a list"},
		{"{{number 2 .claim.amount}}", "number: the value is text, not a number"},
		{"{{lt .missing 3}}", "lt: null cannot be compared with a number"},
		{"{{gt .notes 3}}", "gt: text cannot be compared with a number"},
		{"{{len .missing}}", "len: the value is null"},
		{"{{index .names 3}}", "index: 3 is out of range, the length is 3"},
		{"{{index .names 0.5}}", "index: an index is a whole number"},
		{"{{slice .names 2 1}}", "slice: the end 1 lies before the beginning 2"},
		{"{{slice .names 9}}", "slice: 9 is out of range"},
		{"{{printf \"%d\" .notes}}", `printf: "%d" does not fit its values`},
		{"{{printf \"%s\" .missing}}", "printf: value 1 is null"},
		{"{{join \",\" .notes}}", "join: the value is text, not a list"},
		{"{{upper .names}}", "upper: the value is a list, not text"},
		{"{{date \"2006\" .notes}}", `date: "Hello" is not a time`},
		{"{{truncate 0 .notes}}", "truncate: 0 is not a number of characters"},
		{"{{indent 1001 .notes}}", "indent: 1001 is not between"},
		{"{{number 21 .amount}}", "number: 21 decimals"},
		{"{{truncate .notes .notes}}", "wrong type for value; expected int; got string"},
		{"{{join .names}}", "wrong number of args for join: want 2 got 1"},
		{"{{$a := replace \"o\" .text .notes}}{{$b := printf \"%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s\" $a}}" +
			strings.Repeat("{{$b = printf \"%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s%[1]s\" $b}}", 9), "the text grows beyond 16 MiB"},
	} {
		tmpl, faults := lang.ParseTemplate(c.source, names())
		if len(faults) > 0 {
			t.Errorf("%s: %v", c.source, faults)
			continue
		}
		got, err := tmpl.Render(scope)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\n got %q, %v\nwant %q", c.source, got, err, c.want)
		}
	}
}

func TestTemplateFaults(t *testing.T) {
	for _, c := range []struct {
		source string
		want   []lang.Fault
	}{
		{"Since {{.sinse}}", []lang.Fault{{8, `unknown name ".sinse"; did you mean "since"?`}}},
		{"{{notes}}", []lang.Fault{{2, `unknown function "notes"; a value is written with a dot: {{.notes}}`}}},
		{"{{uper .notes}}", []lang.Fault{{2, `unknown function "uper"; did you mean "upper"?`}}},
		{"{{print .notes}}", []lang.Fault{{2, `unknown function "print"; did you mean "printf"?`}}},
		{"{{hitl_get .notes}}", []lang.Fault{{2, `unknown function "hitl_get"`}}},
		{"{{.a}}\n{{.claim.x}} {{.b}}", []lang.Fault{{2, `unknown name ".a"`}, {22, `unknown name ".b"`}}},
		{"é {{.answers.reviw.value}}", []lang.Fault{{5, `unknown name ".answers.reviw"; did you mean "review"?`}}},
		{"{{.answers.review.valu}}", []lang.Fault{{2, `unknown name ".answers.review.valu"; did you mean "value"?`}}},
		{"{{.answers.confirm.value}}", []lang.Fault{{2, `unknown name ".answers.confirm.value"; known are change, name`}}},
		{"{{.answers.confirm.name.valu}}", []lang.Fault{{2, `unknown name ".answers.confirm.name.valu"; did you mean "value"?`}}},
		{"{{.answers.review.by.x}}", []lang.Fault{{2, `unknown name ".answers.review.by.x"`}}},
		{"{{.answers.review.value.x.y}}", nil},
		{"{{.errors.verify.mesage}}", []lang.Fault{{2, `unknown name ".errors.verify.mesage"; did you mean "message"?`}}},
		{"{{.run.ident}}", []lang.Fault{{2, `unknown name ".run.ident"; known are id, workflow, started`}}},
		{"{{.output}}", []lang.Fault{{2, `unknown name ".output"`}}},
		{"{{range .names}}{{.anything}}{{$.sinse}}{{end}}", []lang.Fault{{31, `unknown name "$.sinse"; did you mean "since"?`}}},
		{"{{with .answers.review}}{{.coment}}{{end}}", []lang.Fault{{26, `unknown name ".coment"; did you mean "comment"?`}}},
		{"{{with .names}}{{else}}{{.sinse}}{{end}}", []lang.Fault{{25, `unknown name ".sinse"; did you mean "since"?`}}},
		{"{{if .sinse}}{{end}}", []lang.Fault{{5, `unknown name ".sinse"; did you mean "since"?`}}},
		{"{{len (slice .sinse 1)}}", []lang.Fault{{13, `unknown name ".sinse"; did you mean "since"?`}}},
		{"{{(index .itms 0).s}}", []lang.Fault{{9, `unknown name ".itms"; did you mean "items"?`}}},
		{"{{.}}", []lang.Fault{{2, `"." alone is the whole state: name what you mean, as in {{.notes}}`}}},
		{"{{json $}}", []lang.Fault{{7, `"$" alone is the whole state: name what you mean, as in $.notes`}}},
		{"{{$ := 1}}", []lang.Fault{{2, `"$" is the whole state and cannot be set: give the variable a name`}}},
		{"{{.notes 1}}", []lang.Fault{{2, ".notes is a value and takes no arguments"}}},
		{"{{.notes | .since}}", []lang.Fault{{11, ".since is a value and takes no arguments"}}},
		{"{{join upper .names}}", []lang.Fault{{7, "the function upper needs brackets of its own here: (upper ...)"}}},
		{"{{env \"HOME\"}}", []lang.Fault{{2, "env is allowed only under env and headers and in an http URL, so that no secret reaches the state"}}},
		{"a\nb {{.notes", []lang.Fault{{4, `"{{" is never closed: a value is written {{.name}}`}}},
		{"{{if .notes}}x", []lang.Fault{{0, "an if, range or with has no {{end}}"}}},
		{"{{define \"x\"}}y{{end}}{{.sinse}}", []lang.Fault{{2, "define is not allowed: a text of a workflow is one template"}, {24, `unknown name ".sinse"; did you mean "since"?`}}},
		{"{{block \"x\" .notes}}y{{end}}", []lang.Fault{{2, "block is not allowed: a text of a workflow is one template"}}},
		{"{{template \"x\"}}", []lang.Fault{{2, "template is not allowed: a text of a workflow is one template"}}},
	} {
		_, got := lang.ParseTemplate(c.source, names())
		if len(got) != len(c.want) {
			t.Errorf("%s: got %v, want %v", c.source, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s\n got %v\nwant %v", c.source, got[i], c.want[i])
			}
		}
	}
}

func TestTemplateEnv(t *testing.T) {
	n := names()
	n.Env = true
	n.Getenv = func(name string) (string, bool) { return "secret-" + name, name == "TOKEN" }
	for source, want := range map[string]string{
		`Bearer {{env "TOKEN"}}`: "Bearer secret-TOKEN",
		`{{env "OTHER"}}`:        "env: the environment variable OTHER is not set",
	} {
		tmpl, faults := lang.ParseTemplate(source, n)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		got, err := tmpl.Render(stateOf(t, `{}`))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
}

// Ranges multiply when they are nested; without a bound this one would take years.
func TestRangesAreBounded(t *testing.T) {
	list := "[" + strings.Repeat("0,", 9999) + "0]"
	source := strings.Repeat("{{range $.items}}", 6) + strings.Repeat("{{end}}", 6)
	tmpl, faults := lang.ParseTemplate(source, names())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	_, err := tmpl.Render(stateOf(t, `{"items":`+list+`}`))
	if err == nil || !strings.Contains(err.Error(), "turns in one text") {
		t.Errorf("got %v, want an error about turns", err)
	}
}
