package actions_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// goldenLines reads what AgentMap itself made of tokens and answers, one "input -> result" a line.
func goldenLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/agentmap/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

const (
	plainID    = "other JSON than an object is a plain id"
	noGuess    = "a thread id is a text or a number, anything else would be turned into text by a guess"
	crash      = "AgentMap raises an exception of the language instead of an error of its own"
	empty      = "the blank id can be of no thread"
	notApplied = "" // as AgentMap
)

// TestGoldenTokens holds every golden line of token parsing: where ours differs, `why` says for which reason.
func TestGoldenTokens(t *testing.T) {
	type result struct{ ours, why string }
	want := map[string]result{
		`'t-1'`:                   {"('t-1', 'continue', None)", notApplied},
		`'  '`:                    {"empty", empty},
		`''`:                      {"empty", notApplied},
		`'123'`:                   {"('123', 'continue', None)", plainID},
		`'"abc"'`:                 {`('"abc"', 'continue', None)`, plainID},
		`'null'`:                  {"('null', 'continue', None)", plainID},
		`'[1]'`:                   {"('[1]', 'continue', None)", plainID},
		`'true'`:                  {"('true', 'continue', None)", plainID},
		`'{'`:                     {"broken_json", "what begins with { was meant to be an object; as an id it would be not found, with no word why"},
		`'{}'`:                    {"no_thread", notApplied},
		`'{"thread_id":null}'`:    {"no_thread", notApplied},
		`'{"thread_id":""}'`:      {"empty_thread", notApplied},
		`'{"thread_id":123}'`:     {"('123', 'continue', None)", notApplied},
		`'{"thread_id":{"a":1}}'`: {"wrong_type", noGuess},
		`'{"thread_id":"t"}'`:     {"('t', 'continue', None)", notApplied},
		`' {"thread_id":"t"} '`:   {"('t', 'continue', None)", notApplied},
		`'{"thread_id":"t","response_action":null}'`:         {"('t', 'continue', None)", notApplied},
		`'{"thread_id":"t","response_action":""}'`:           {"empty_action", notApplied},
		`'{"thread_id":"t","response_action":"APPROVE"}'`:    {"('t', 'approve', None)", notApplied},
		`'{"thread_id":"t","response_action":" approve"}'`:   {"unknown_action", notApplied},
		`'{"thread_id":"t","response_action":"text-input"}'`: {"unknown_action", notApplied},
		`'{"thread_id":"t","response_action":5}'`:            {"wrong_type", notApplied},
		`'{"thread_id":"t","response_data":[1,2]}'`:          {"('t', 'continue', [1, 2])", notApplied},
		`'{"thread_id":"t","response_data":"s"}'`:            {"('t', 'continue', 's')", notApplied},
		`'{"thread_id":"t","response_data":0}'`:              {"('t', 'continue', 0)", notApplied},
		`'{"thread_id":"t","extra":1}'`:                      {"unknown_key", "a key not understood may be a mistyped one, whose meaning would be lost"},
		`'{"thread_id":"t","thread_id":"u"}'`:                {"duplicate_key", "nobody can say which thread was meant"},
		`'{"thread_id":"t","response_data":NaN}'`:            {"broken_json", "NaN is not JSON"},
		`'\ufeff{"thread_id":"t"}'`:                          {"byte_order_mark", "as a plain id it would be not found, with no word why"},
		`<65536 chars 65536 bytes>`:                          {"long_thread", "a token of the full size is taken, but a thread id of it is not"},
		`<65537 chars 65537 bytes>`:                          {"too_large", notApplied},
		`<20039 chars 40039 bytes>`:                          {"('t', 'continue', 'é...')", "the limit is on UTF-8, AgentMap counts data with every é written as an escape of six"},
		`123`:                                                {"not a text", notApplied},
		`None`:                                               {"not a text", notApplied},
		`b'x'`:                                               {"not a text", notApplied},
	}
	seen := 0
	for _, line := range goldenLines(t, "golden-token-parse.txt") {
		left, golden, ok := cutLast(line, " -> ")
		row, known := want[left]
		if !ok || !known {
			t.Errorf("no result of ours for the golden line %s", line)
			continue
		}
		seen++
		if token, is := goldenToken(left); is {
			if got := showToken(token); got != row.ours {
				t.Errorf("%s: got %s, want %s", left, got, row.ours)
			}
		}
		refused := strings.HasPrefix(golden, "RAISES InvalidInputs")
		agrees := golden == row.ours || refused && !strings.HasPrefix(row.ours, "(")
		if agrees != (row.why == "") {
			t.Errorf("%s: ours is %s, AgentMap's %s, the reason given is %q", left, row.ours, golden, row.why)
		}
	}
	if seen != len(want) {
		t.Errorf("%d golden lines, %d results of ours", seen, len(want))
	}
}

func cutLast(line, sep string) (string, string, bool) {
	i := strings.Index(line, sep)
	if i < 0 {
		return line, "", false
	}
	return line[:i], line[i+len(sep):], true
}

// goldenToken is the token behind the left side of a golden line; false for what a program can hand to AgentMap but
// not to a parser of bytes.
func goldenToken(left string) (string, bool) {
	switch left {
	case `123`, `None`, `b'x'`:
		return "", false
	case `<65536 chars 65536 bytes>`:
		return strings.Repeat("x", 65536), true
	case `<65537 chars 65537 bytes>`:
		return strings.Repeat("x", 65537), true
	case `<20039 chars 40039 bytes>`:
		return `{"thread_id": "t", "response_data": "` + strings.Repeat("é", 20000) + `"}`, true
	}
	return strings.ReplaceAll(strings.Trim(left, "'"), `\ufeff`, "\ufeff"), true
}

func showToken(raw string) string {
	token, err := actions.ParseToken([]byte(raw))
	if err != nil {
		if fault, ok := err.(*actions.TokenError); ok {
			return string(fault.Fault)
		}
		return err.(interface{ Code() string }).Code()
	}
	data := "None"
	if token.Data != nil {
		data = strings.NewReplacer(`"`, "'", ",", ", ").Replace(string(token.Data))
		if r := []rune(data); len(r) > 100 {
			data = string(r[:2]) + "...'"
		}
	}
	return "('" + token.ThreadID + "', '" + string(token.Action) + "', " + data + ")"
}

// TestGoldenAnswers holds every golden line about answers; the lines behind them are about AgentMap's own store of
// interactions and about the input of its agents, of which nothing is known here. AgentMap looks at the action only in an approval, and at
// one key of the data in every other kind; whatever else is given is dropped without a word.
func TestGoldenAnswers(t *testing.T) {
	options := items(`"low"`, `"high"`)
	choice := actions.Question{Kind: actions.Choice, Options: options}
	text := actions.Question{Kind: actions.Text}
	edit := actions.Question{Kind: actions.EditKind, Content: raw(`"ORIG"`)}
	editD := actions.Question{Kind: actions.EditKind, Content: raw(`"D"`)}
	suspend := actions.Question{Kind: actions.Suspend}
	const (
		silent = "an option that is not there is refused; AgentMap silently takes the first"
		values = "a value or a label is understood; AgentMap knows only the index"
		keys   = "all answer keys seen in the wild are understood; AgentMap drops this one"
		bare   = "a bare value is understood"
	)
	for _, tc := range []struct {
		golden string
		q      actions.Question
		action actions.Action
		data   string
		ours   string // the value, or part of the error behind !
		why    string
	}{
		{"choice {} -> low", choice, actions.Choose, `{}`, "!option is required", silent},
		{"choice {'choice': 1} -> low", choice, actions.Choose, `{"choice":1}`, `"low"`, ""},
		{"choice {'choice': 2} -> high", choice, actions.Choose, `{"choice":2}`, `"high"`, ""},
		{"choice {'choice': 3} -> low", choice, actions.Choose, `{"choice":3}`, "!no option 3", silent},
		{"choice {'choice': 0} -> low", choice, actions.Choose, `{"choice":0}`, "!no option 0", silent},
		{"choice {'choice': 'high'} -> RAISES TypeError: unsupported operand type(s) for -: 'str' and 'int'", choice, actions.Choose, `{"choice":"high"}`, `"high"`, values},
		{"choice {'choice': '2'} -> RAISES TypeError: unsupported operand type(s) for -: 'str' and 'int'", choice, actions.Choose, `{"choice":"2"}`, `"high"`, values},
		{"choice {'choice': 1.5} -> RAISES TypeError: list indices must be integers or slices, not float", choice, actions.Choose, `{"choice":1.5}`, "!none of the options", crash},
		{"choice {'selection': 2} -> low", choice, actions.Choose, `{"selection":2}`, `"high"`, keys},
		{"choice [1] -> RAISES AttributeError: 'list' object has no attribute 'get'", choice, actions.Choose, `[1]`, `"low"`, bare},
		{"choice x -> RAISES AttributeError: 'str' object has no attribute 'get'", choice, actions.Choose, `"x"`, "!none of the options", crash},
		{"choice {'choice': None} -> RAISES TypeError: unsupported operand type(s) for -: 'NoneType' and 'int'", choice, actions.Choose, `{"choice":null}`, "!option is required", crash},
		{"choice no options None", actions.Question{Kind: actions.Choice}, actions.Choose, `1`, "!no options", "a choice without options is a fault of its asker, not the answer null"},
		{"text_input {'text': 'hi'} -> 'hi'", text, actions.TextInput, `{"text":"hi"}`, `"hi"`, ""},
		{"text_input {'response': 'hi'} -> ''", text, actions.TextInput, `{"response":"hi"}`, `"hi"`, keys},
		{"text_input {'feedback': 'x'} -> ''", text, actions.TextInput, `{"feedback":"x"}`, `"x"`, keys},
		{`text_input raw -> "RAISES AttributeError: 'str' object has no attribute 'get'"`, text, actions.TextInput, `"raw"`, `"raw"`, bare},
		{`text_input ['l'] -> "RAISES AttributeError: 'list' object has no attribute 'get'"`, text, actions.TextInput, `["l"]`, "!must be a text", crash},
		{"text_input {'text': None} -> None", text, actions.TextInput, `{"text":null}`, "!text is required", "a text may be empty, but must be one"},
		{"edit {'edited': 'new'} {} -> 'new'", edit, actions.Edit, `{"edited":"new"}`, `"new"`, ""},
		{"edit {'content': 'new'} {} -> ''", edit, actions.Edit, `{"content":"new"}`, `"new"`, keys},
		{"edit {'edited_content': 'new'} {'draft': 'D'} -> ''", editD, actions.Edit, `{"edited_content":"new"}`, `"new"`, keys},
		{"edit {} {'original': 'O'} -> 'O'", editD, actions.Edit, `{}`, "!edited content is required", "an edit without content is a mistake; approve and save leave it as it is"},
		{"conversation {'message': 'm'}", actions.Question{Kind: actions.Conversation, Content: raw(`[]`)}, actions.Reply, `{"message":"m"}`, `"m"`, "a reply is its text"},
		{"bare string resume (suspend path) -> RAISES AttributeError: 'str' object has no attribute 'get'", suspend, actions.Continue, `"x"`, `"x"`, bare},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			if !strings.Contains("\n"+strings.Join(goldenLines(t, "golden-hitl.txt"), "\n")+"\n", "\n"+tc.golden+"\n") {
				t.Fatal("no such golden line")
			}
			got, err := actions.Validate(tc.q, tc.action, json.RawMessage(tc.data))
			fault, refused := strings.CutPrefix(tc.ours, "!")
			switch {
			case refused && (err == nil || !strings.Contains(err.Error(), fault)):
				t.Errorf("got %s, %v; want an error with %q", got.Value, err, fault)
			case !refused && (err != nil || string(got.Value) != tc.ours):
				t.Errorf("got %s, %v; want %s", got.Value, err, tc.ours)
			}
			_, golden, _ := cutLast(tc.golden, " -> ")
			if agrees := strings.Trim(golden, "'") == strings.Trim(tc.ours, `"`); agrees != (tc.why == "") {
				t.Errorf("ours is %s, AgentMap's %s, the reason given is %q", tc.ours, golden, tc.why)
			}
		})
	}
}

// TestGoldenActionsByKind holds the first section: what each kind makes of every action with the data {}. AgentMap
// ignores the action but for approve in an approval, where all fourteen others mean "no"; here an action that the kind
// does not allow is refused by name.
func TestGoldenActionsByKind(t *testing.T) {
	for name, kind := range map[string]actions.Kind{"approval": actions.Approval, "choice": actions.Choice, "text_input": actions.Text,
		"edit": actions.EditKind, "conversation": actions.Conversation} {
		found := false
		for _, line := range goldenLines(t, "golden-hitl.txt") {
			found = found || strings.HasPrefix(line, name+" {") && strings.Contains(line, "'approve'")
		}
		if !found {
			t.Errorf("no golden line for %s", name)
		}
		q := actions.Question{Kind: kind, Options: items(`"low"`), Content: raw(`[]`)}
		for _, a := range actions.All() {
			_, err := actions.Validate(q, a, raw(`{}`))
			_, refused := err.(*actions.NotAllowedError)
			if allowed := strings.Contains(" "+joined(actions.Defaults(kind))+" ", " "+string(a)+" "); allowed == refused {
				t.Errorf("%s %s: %v", name, a, err)
			}
		}
	}
	q := actions.Question{Kind: actions.Approval, Actions: actions.All()}
	for a, want := range map[actions.Action]string{actions.Approve: "true", actions.Reject: "false"} {
		if got, err := actions.Validate(q, a, raw(`{}`)); err != nil || string(got.Value) != want {
			t.Errorf("approval %s: %s, %v; AgentMap has %s", a, got.Value, err, want)
		}
	}
}

func joined(list []actions.Action) string {
	var b strings.Builder
	for _, a := range list {
		b.WriteString(string(a) + " ")
	}
	return b.String()
}
