package lang_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

func withOutput() lang.Names {
	n := names()
	n.Output = true
	return n
}

func TestEval(t *testing.T) {
	scope := stateOf(t, object)
	output := engine.RawValue([]byte(`{"paid":5,"note":"ok"}`))
	for _, c := range []struct{ source, want string }{
		{"7 / 2", "3.5"},
		{"amount / 7 * 7", "240"},
		{"count == 0 and limit == 100 and price != 12", "true"},
		{"5 == 5.0", "true"},
		{"notes", `"Hello"`},
		{"output", `{"paid":5,"note":"ok"}`},
		{"output.paid + 1", "6"},
		{"claim.person + ' ' + notes", `"Ada Hello"`},
		{"float(claim.amount) > 1000", "true"},
		{"amount > limit ? 'open' : 'pay'", `"open"`},
		{"missing ?? 'none'", `"none"`},
		{"missing?.x", "null"},
		{"answers.review.comment", `"Shorter"`},
		{"answers.confirm?.name?.value", "null"},
		{"answers.agent.pay.comment + answers.agent['which one'].comment", `"yesno"`},
		{"answers.agent?.later?.value", "null"},
		{"errors.verify.attempts + 1", "4"},
		{"errors.verify.ended == 'failed' ? errors.verify.by + errors.verify.comment : '-'", `""`},
		{"run.id", `"t-1"`},
		{"not urgent or 'b' in names", "true"},
		{"'x' in claim", "false"},
		{"notes contains 'ell' and notes matches '^H' and notes startsWith 'He'", "true"},
		{"filter(items, .n > 1)", `[{"n":2.5,"s":"y"}]`},
		{"map(items, .s)", `["x","y"]`},
		{"sum(map(items, .n))", "3.5"},
		{"len(names) + len(filter(items, .n > 1))", "4"},
		{"any(items, .s == 'x') and all(items, .n > 0)", "true"},
		{"names | join('+')", `"a+b+c"`},
		{"join(names, '-') + repeat('=', 3) + replace(notes, 'l', 'L')", `"a-b-c===HeLLo"`},
		{"[since, 'x', 1, nil, true]", `["v1","x",1,null,true]`},
		{"{id: claim.person, n: amount, 'a b': 1}", `{"a b":1,"id":"Ada","n":240}`},
		{"let x = amount + 1; x * 2", "482"},
		{"len(filter(split(notes, 'l'), trim(#) != ''))", "2"},
		{"names[0] + names[-1]", `"ac"`},
		{"items[1].s", `"y"`},
		{"string(amount) + toJSON(none)", `"240[]"`},
		{"flatten([names, [names]])", `["a","b","c","a","b","c"]`},
		{"'open'", `"open"`},
		{"if urgent { 1 } else { 2 }", "1"},
		{"date('2026-11-29') < date('2026-11-30')", "true"},
		{"2 ** 10 + 7 % 4", "1027"},
		{"null", "null"},
	} {
		e, faults := lang.ParseExpr(c.source, withOutput())
		if len(faults) > 0 {
			t.Errorf("%s: %v", c.source, faults)
			continue
		}
		got, err := e.Eval(scope, output)
		if err != nil || string(got.JSON()) != c.want {
			t.Errorf("%s\n got %s, %v\nwant %s", c.source, got.JSON(), err, c.want)
		}
		if e.Source() != c.source {
			t.Errorf("Source() = %q", e.Source())
		}
	}
}

func TestEvalErrors(t *testing.T) {
	scope := stateOf(t, object)
	for _, c := range []struct{ source, want string }{
		{"missing > 3", "missing > 3: invalid operation: null > number: missing is null"},
		{"amount > claim.amount", "amount > claim.amount: invalid operation: number > text"},
		{"answers.confirm.name.value", `answers.confirm.name.value: there is no field "name" in null: answers.confirm is null`},
		{"notes.x", "notes.x: a text or a list has no named fields"},
		{"not missing", "not missing: null stands where true or false is needed: missing is null"},
		{"urgent and notes", ""},
		{"notes and urgent", "notes and urgent: text stands where true or false is needed"},
		{"1 / 0 ", "1 / 0: the result is no JSON"},
		{"amount % 0", "amount % 0: "},
		{"names[7]", "names[7]: index out of range: 7 (array length is 3)"},
		{"len(missing)", "len(missing): invalid argument for len (type null): missing is null"},
		{"float(notes)", "float(notes): "},
		{"repeat('0123456789', 2000000)", "repeat('0123456789', 2000000): the text grows beyond 16 MiB"},
		{"reduce(1..40, #acc + #acc, notes)", "reduce(1..40, #acc + #acc, notes): the text grows beyond 16 MiB"},
		{"1..900000000", "1..900000000: memory budget exceeded"},
		{"map(1..100000, notes) | join(notes + repeat(' ', 1000))", "map(1..100000, notes) | join(notes + repeat(' ', 1000)): the text grows beyond"},
		{"let x = [names, names]; " + doubled(40) + "x40", "let x = [names, names]; let x1 = [x, x]; let x2 = [x1, x1]; let x3 = [x2, x2]; …: the result is larger than 16 MiB"},
		{"toJSON(reduce(1..40, [#acc, #acc], notes))", "toJSON(reduce(1..40, [#acc, #acc], notes)): the text grows beyond"},
		{"replace(repeat('a', 5000), '', repeat('b', 5000))", "replace(repeat('a', 5000), '', repeat('b', 5000)): the text grows beyond"},
	} {
		e, faults := lang.ParseExpr(c.source, names())
		if len(faults) > 0 {
			t.Errorf("%s: %v", c.source, faults)
			continue
		}
		got, err := e.Eval(scope, engine.Value{})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.source, err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s\n got %.100s, %v\nwant %s", c.source, got.JSON(), err, c.want)
		}
	}
}

func doubled(n int) string {
	var b strings.Builder
	last := "x"
	for i := range n {
		name := "x" + string(rune('0'+(i+1)%10))
		if i+1 >= 10 {
			name = "x" + string(rune('0'+(i+1)/10)) + string(rune('0'+(i+1)%10))
		}
		b.WriteString("let " + name + " = [" + last + ", " + last + "]; ")
		last = name
	}
	return b.String()
}

func TestBool(t *testing.T) {
	scope := stateOf(t, object)
	for _, c := range []struct {
		source string
		want   bool
		err    string
	}{
		{"amount > 100", true, ""},
		{"urgent", true, ""},
		{"missing ?? false", false, ""},
		{"missing", false, "missing is null, which is neither true nor false (missing ?? false)"},
		{"claim.urgent", false, "claim.urgent is null, which is neither true nor false (claim.urgent ?? false)"},
		{"claim.amount", false, "claim.amount is text, not true or false"},
		{"amount", false, "amount is a number, not true or false"},
		{"names", false, "names is a list, not true or false"},
		{"urgent ? nil : 1", false, "urgent ? nil : 1 is null, which is neither true nor false (say what null means with ??)"},
	} {
		e, faults := lang.ParseExpr(c.source, names())
		if len(faults) > 0 {
			t.Errorf("%s: %v", c.source, faults)
			continue
		}
		got, err := e.Bool(scope, engine.Value{})
		switch {
		case c.err == "" && (err != nil || got != c.want):
			t.Errorf("%s: got %v, %v; want %v", c.source, got, err, c.want)
		case c.err != "" && (err == nil || err.Error() != c.err):
			t.Errorf("%s\n got %v\nwant %s", c.source, err, c.err)
		}
	}
}

func TestExprFaults(t *testing.T) {
	n := names()
	n.Keys = append(n.Keys, "len", "status")
	for _, c := range []struct {
		source string
		want   []lang.Fault
	}{
		{"open", []lang.Fault{{0, `unknown name "open" (a text needs quotes of its own: "'open'")`}}},
		{"amont", []lang.Fault{{0, `unknown name "amont"; did you mean "amount"? (a text needs quotes of its own: "'amont'")`}}},
		{"amont > limt", []lang.Fault{{0, `unknown name "amont"; did you mean "amount"?`}, {8, `unknown name "limt"; did you mean "limit"?`}}},
		{"'é' + amont", []lang.Fault{{7, `unknown name "amont"; did you mean "amount"?`}}},
		{"answers.review.valu == 1", []lang.Fault{{15, `unknown field "valu"; did you mean "value"?`}}},
		{"answers.reviw", []lang.Fault{{8, `unknown field "reviw"; did you mean "review"?`}}},
		{"answers.confirm.nam?.value", []lang.Fault{{16, `unknown field "nam"; did you mean "name"?`}}},
		{"answers?.review?.coment", []lang.Fault{{17, `unknown field "coment"; did you mean "comment"?`}}},
		{"errors['verify'].x", []lang.Fault{{17, `unknown field "x"; known are message, ended, by, comment, attempts, at`}}},
		{"run.id + run.ix", []lang.Fault{{13, `unknown field "ix"; did you mean "id"?`}}},
		{"output", []lang.Fault{{0, `unknown name "output" (a text needs quotes of its own: "'output'")`}}},
		{"len(names) > 1", []lang.Fault{{0, `"len" is a state key here, so the function len cannot be called`}}},
		{"len(filter(names, # != ''))", []lang.Fault{{0, `"len" is a state key here, so the function len cannot be called`}}},
		{"len + 1", nil},
		{"notes(1)", []lang.Fault{{0, `"notes" is a state key, not a function`}}},
		{"uper(notes)", []lang.Fault{{0, `unknown function "uper"; did you mean "upper"?`}}},
		{"map(items, .sinse + amont)", []lang.Fault{{20, `unknown name "amont"; did you mean "amount"?`}}},
		{"{{.notes}}", []lang.Fault{{0, "is an expression, not a template: write notes, not {{.notes}}"}}},
		{"{{.amount}} > 100", []lang.Fault{{0, "is an expression, not a template: write amount > 100, not {{.amount}} > 100"}}},
		{"{{len .names}}", []lang.Fault{{0, "is an expression, not a template: names are written without braces and dots"}}},
		{"status = 1", []lang.Fault{{7, "= does not compare: write =="}}},
		{"amount >", []lang.Fault{{7, "the expression is not complete"}}},
		{" ", []lang.Fault{{0, "is an empty expression"}}},
		{"urgent == null", []lang.Fault{{10, "null is written nil in an expression"}}},
		{"$env.notes", []lang.Fault{{0, `unknown name "$env"`}}},
		{"$now", []lang.Fault{{0, `unknown name "$now" (a text needs quotes of its own: "'$now'")`}}},
		{"let notes = 1; notes", []lang.Fault{{4, `"notes" is a name of the workflow, which let cannot set anew`}}},
		{"now(1)", []lang.Fault{{0, "now takes no arguments"}}},
		{"1 + 'x'", []lang.Fault{{2, "invalid operation: + (mismatched types number and text)"}}},
		{strings.Repeat("(", 70000), []lang.Fault{{0, "is an expression of 70000 bytes; the limit is 65536"}}},
	} {
		_, got := lang.ParseExpr(c.source, n)
		if len(got) != len(c.want) {
			t.Errorf("%.60s: got %v, want %v", c.source, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s\n got %v\nwant %v", c.source, got[i], c.want[i])
			}
		}
	}
}

func TestFaultAt(t *testing.T) {
	for message, want := range map[string]string{
		`unknown field "valu"`:             `if: unknown field "valu"`,
		"is an expression, not a template": "if is an expression, not a template",
	} {
		if got := (lang.Fault{Message: message}).At("if"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNowIsTheScopesClock(t *testing.T) {
	at := time.Date(2026, 11, 29, 18, 5, 0, 0, time.UTC)
	for source, want := range map[string]string{
		"now()":                           `"2026-11-29T18:05:00Z"`,
		"now() < date('2026-11-30')":      "true",
		"now().Year()":                    "2026",
		"now() - duration('1h')":          `"2026-11-29T17:05:00Z"`,
		"(now() + duration('1h')).Hour()": "19",
	} {
		e, faults := lang.ParseExpr(source, names())
		if len(faults) > 0 {
			t.Errorf("%s: %v", source, faults)
			continue
		}
		got, err := e.Eval(clocked{stateOf(t, object), at}, engine.Value{})
		if err != nil || string(got.JSON()) != want {
			t.Errorf("%s: got %s, %v; want %s", source, got.JSON(), err, want)
		}
	}
}

func TestKeyAndLiteral(t *testing.T) {
	for source, want := range map[string]string{"notes": "notes", " notes ": "notes", "(notes)": "notes", "notes + ''": "", "answers": "", "claim.person": ""} {
		e, faults := lang.ParseExpr(source, names())
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if e.Key() != want {
			t.Errorf("Key of %q = %q, want %q", source, e.Key(), want)
		}
	}
	l := lang.Literal(engine.RawValue([]byte(`{"a":[1]}`)))
	v, err := l.Eval(state{}, engine.Value{})
	if err != nil || string(v.JSON()) != `{"a":[1]}` || l.Key() != "" || l.Source() != `{"a":[1]}` {
		t.Errorf("literal: %s, %v, %q, %q", v.JSON(), err, l.Key(), l.Source())
	}
	if _, err := l.Bool(state{}, engine.Value{}); err == nil || err.Error() != `{"a":[1]} is an object, not true or false` {
		t.Errorf("Bool of a literal object: %v", err)
	}
}

// Only what an expression mentions is looked up: the state may be large.
func TestOnlyMentionedNamesAreRead(t *testing.T) {
	e, faults := lang.ParseExpr("amount > limit and map(items, .n)[0] == 1", names())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	s := &recorder{state: stateOf(t, object)}
	if _, err := e.Bool(s, engine.Value{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.read, " "); got != "amount limit items" {
		t.Errorf("read %q", got)
	}
}

type recorder struct {
	state
	read []string
}

func (r *recorder) Lookup(name string) (engine.Value, bool) {
	r.read = append(r.read, name)
	return r.state.Lookup(name)
}

func BenchmarkBool(b *testing.B) {
	e, _ := lang.ParseExpr("amount > 100", names())
	s := stateOf(b, object)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Bool(s, engine.Value{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	t, _ := lang.ParseTemplate("Refund {{.amount}} EUR", names())
	s := stateOf(b, object)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Render(s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseExpr(b *testing.B) {
	n := names()
	for b.Loop() {
		lang.ParseExpr("amount > 100 and urgent", n)
	}
}
