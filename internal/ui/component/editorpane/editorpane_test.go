package editorpane_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/editorpane"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"pgregory.net/rapid"
)

const notes = "## Changes\n- Fix race in resume (thanks Bo)\n- Faster inbox (thanks Li)\n- Titles in CJK keep their width 世界\n" +
	"- Drafts survive a restart\n"

func quoted(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

func question(kind actions.Kind) desk.Question {
	q := desk.Question{Thread: "t1", ID: "q1", Workflow: "release-notes", Node: "review@2", Path: "review",
		Question: actions.Question{Kind: kind, Title: "Publish these notes?", Message: "Read them **well**."}}
	q.Actions = actions.All()
	return q
}

func withContent(content json.RawMessage) desk.Question {
	q := question(actions.Approval)
	q.Content, q.ContentType = content, "markdown"
	return q
}

func choice(a actions.Action, needsComment bool) desk.Choice {
	info, ok := actions.Describe(a)
	if !ok {
		panic(a)
	}
	return desk.Choice{Info: info, Allowed: true, Leads: "publish", NeedsComment: needsComment}
}

func open(cfg editorpane.Config, w, h int) *editorpane.Pane {
	cfg.Grace = 5 * time.Second
	p := editorpane.New(theme.Must("", true), keymap.Default(), cfg)
	p.SetSize(w, h)
	return p
}

func press(p *editorpane.Pane, names ...string) (r editorpane.Result) {
	for _, n := range names {
		r = p.Update(tuitest.Key(n))
	}
	return r
}

func typeText(p *editorpane.Pane, s string) {
	for _, k := range tuitest.Text(s) {
		p.Update(k)
	}
}

// TestDataOfEveryAction types an answer for each kind of data and reads what would be sent.
func TestDataOfEveryAction(t *testing.T) {
	form := question(actions.FormKind)
	form.Schema = json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)
	object := withContent(json.RawMessage(`{"b":1,"a":[true]}`))
	for _, tc := range []struct {
		name    string
		q       desk.Question
		action  actions.Action
		comment bool
		chosen  string
		do      func(p *editorpane.Pane)
		want    string
	}{
		{"approve alone", withContent(quoted("x")), actions.Approve, false, "", func(*editorpane.Pane) {}, ""},
		{"approve with comment", withContent(quoted("x")), actions.Approve, false, "", func(p *editorpane.Pane) { typeText(p, "fine") }, `"fine"`},
		{"reject", question(actions.Approval), actions.Reject, true, "", func(p *editorpane.Pane) { typeText(p, "a\nb <c>") }, `"a\nb <c>"`},
		{"respond", question(actions.Text), actions.Respond, false, "", func(p *editorpane.Pane) { typeText(p, "yes") }, `"yes"`},
		{"text_input empty", question(actions.Text), actions.TextInput, false, "", func(*editorpane.Pane) {}, `""`},
		{"edit", withContent(quoted("x")), actions.Edit, false, "", func(p *editorpane.Pane) { typeText(p, "y") }, `{"edited":"yx"}`},
		{"edit with comment", withContent(quoted("x")), actions.Edit, true, "", func(p *editorpane.Pane) { press(p, "tab"); typeText(p, "why") },
			`{"edited":"x","comment":"why"}`},
		{"edit an object", object, actions.Edit, false, "", func(*editorpane.Pane) {}, `{"edited":{"b":1,"a":[true]}}`},
		{"save", withContent(quoted("x")), actions.Save, false, "", func(p *editorpane.Pane) { typeText(p, "y") }, `{"edited":"yx"}`},
		{"submit", form, actions.Submit, false, "", func(p *editorpane.Pane) { typeText(p, "12") }, `{"n":12}`},
		{"submit with comment", form, actions.Submit, true, "", func(p *editorpane.Pane) { typeText(p, "12"); press(p, "tab"); typeText(p, "ok") },
			`{"n":12,"comment":"ok"}`},
		{"submit raw", form, actions.Submit, false, "", func(p *editorpane.Pane) {
			typeText(p, "1")
			press(p, "ctrl+r", "ctrl+end", "left", "backspace") // } stays, the line end goes
		}, `{"n":1}`},
		{"continue with nothing", question(actions.Suspend), actions.Continue, false, "", func(*editorpane.Pane) {}, ""},
		{"continue with JSON", question(actions.Suspend), actions.Continue, false, "", func(p *editorpane.Pane) { typeText(p, `{"x": 1}`) }, `{"x":1}`},
		{"reply", question(actions.Conversation), actions.Reply, false, "", func(p *editorpane.Pane) { typeText(p, "hello") }, `"hello"`},
		{"end", question(actions.Conversation), actions.End, false, "", func(*editorpane.Pane) {}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := open(editorpane.Config{Question: tc.q, Choice: choice(tc.action, tc.comment)}, 80, 24)
			tc.do(p)
			r, ok := press(p, "ctrl+s").(editorpane.Send)
			if !ok {
				t.Fatalf("not sent:\n%s", ansi.Strip(p.View()))
			}
			if string(r.Data) != tc.want {
				t.Errorf("data %s, want %s", r.Data, tc.want)
			}
		})
	}
}

func TestChooseWithComment(t *testing.T) {
	q := question(actions.Choice)
	q.Options = []actions.OptionItem{{Value: quoted("a")}, {Value: quoted("b")}}
	p := open(editorpane.Config{Question: q, Choice: choice(actions.Choose, true), Chosen: quoted("b")}, 80, 24)
	typeText(p, "it is shorter")
	r, _ := press(p, "ctrl+s").(editorpane.Send)
	if want := `{"choice":"b","comment":"it is shorter"}`; string(r.Data) != want {
		t.Errorf("data %s, want %s", r.Data, want)
	}
}

func TestWhatIsWrongIsSaidAndNothingLost(t *testing.T) {
	q := question(actions.FormKind)
	q.Schema = json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)
	for _, tc := range []struct {
		name   string
		q      desk.Question
		action actions.Action
		typed  string
		says   string
	}{
		{"empty text", question(actions.Text), actions.Respond, "", "respond"},
		{"broken JSON", withContent(json.RawMessage(`{}`)), actions.Edit, "\nx", "line 2, column 1"},
		{"wrong type", withContent(json.RawMessage(`[1]`)), actions.Edit, "2, ", "JSON"},
		{"form field", q, actions.Submit, "12x", "must be"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := open(editorpane.Config{Question: tc.q, Choice: choice(tc.action, false)}, 80, 24)
			typeText(p, tc.typed)
			before := p.Text()
			if r := press(p, "ctrl+s"); r != (editorpane.Stay{}) {
				t.Fatalf("%T", r)
			}
			if view := ansi.Strip(p.View()); !strings.Contains(view, tc.says) {
				t.Errorf("does not say %q:\n%s", tc.says, view)
			}
			if p.Text() != before {
				t.Errorf("text was %q and is %q", before, p.Text())
			}
		})
	}
}

func TestKeys(t *testing.T) {
	for _, tc := range []struct {
		keys []string
		want editorpane.Result
	}{
		{[]string{"esc"}, editorpane.Back{}}, {[]string{"ctrl+c"}, editorpane.Interrupt{}}, {[]string{"ctrl+z"}, editorpane.Suspend{}},
		{[]string{"ctrl+x"}, editorpane.Discard{}}, {[]string{"ctrl+y"}, editorpane.Copy{Text: "x"}},
		{[]string{"ctrl+o"}, editorpane.External{Text: "x", Extension: ".md"}},
		{[]string{"tab", "enter"}, editorpane.Send{Data: json.RawMessage(`{"edited":"x"}`)}},
		{[]string{"shift+tab", "enter"}, editorpane.Send{Data: json.RawMessage(`{"edited":"x"}`)}},
		{[]string{"enter"}, editorpane.Stay{}}, {[]string{"a"}, editorpane.Stay{}}, {[]string{"o"}, editorpane.Stay{}},
		{[]string{"q"}, editorpane.Stay{}}, {[]string{"tab", "a"}, editorpane.Stay{}}, {[]string{"tab", "space"}, editorpane.Stay{}},
	} {
		p := open(editorpane.Config{Question: withContent(quoted("x")), Choice: choice(actions.Edit, false)}, 80, 24)
		if diff := cmp.Diff(tc.want, press(p, tc.keys...)); diff != "" {
			t.Errorf("%v: %s", tc.keys, diff)
		}
	}
}

func TestBytesLeftIsExact(t *testing.T) {
	q := withContent(quoted("x"))
	for _, a := range []actions.Action{actions.Edit, actions.Reject, actions.Respond} {
		p := open(editorpane.Config{Question: q, Choice: choice(a, false)}, 80, 24)
		room := p.Left()
		if a == actions.Reject {
			room -= len(`""`) // no text is no data at all
		}
		p.Update(tea.PasteMsg{Content: strings.Repeat("a", room)})
		if p.Left() != 0 {
			t.Errorf("%s: %d left after filling %d", a, p.Left(), room)
		}
		if _, err := p.Data(); err != nil {
			t.Errorf("%s: exactly full: %v", a, err)
		}
		typeText(p, "b")
		if p.Left() != -1 {
			t.Errorf("%s: %d left, want -1", a, p.Left())
		}
		if r := press(p, "ctrl+s"); r != (editorpane.Stay{}) {
			t.Errorf("%s: one byte too many is sent", a)
		}
		if view := ansi.Strip(p.View()); !strings.Contains(view, "1 bytes too many") || !strings.Contains(view, "65537") {
			t.Errorf("%s: does not say so:\n%s", a, view)
		}
	}
}

func TestRawJSONAndBack(t *testing.T) {
	p := open(editorpane.Config{Question: withContent(quoted("line\n\"x\"")), Choice: choice(actions.Edit, false)}, 80, 24)
	press(p, "ctrl+r")
	if got := p.Text(); got != `"line\n\"x\""` {
		t.Fatalf("raw %s", got)
	}
	press(p, "ctrl+r")
	if got := p.Text(); got != "line\n\"x\"" {
		t.Errorf("text %q", got)
	}
	press(p, "ctrl+r")
	typeText(p, "broken")
	press(p, "ctrl+r")
	if got := p.Text(); got != `broken"line\n\"x\""` {
		t.Errorf("text %q: broken JSON stays raw", got)
	}
}

func TestDraftComesBack(t *testing.T) {
	for _, tc := range []struct {
		name    string
		content json.RawMessage
		comment bool
		do      func(p *editorpane.Pane)
	}{
		{"text", quoted("x"), false, func(p *editorpane.Pane) { typeText(p, "new ") }},
		{"with comment", quoted("x"), true, func(p *editorpane.Pane) { typeText(p, "new "); press(p, "tab"); typeText(p, "why") }},
		{"raw", json.RawMessage(`{"a":1}`), false, func(p *editorpane.Pane) { typeText(p, "broken ") }},
		{"text as raw", quoted("x"), false, func(p *editorpane.Pane) { press(p, "ctrl+r"); typeText(p, "z") }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := editorpane.Config{Question: withContent(tc.content), Choice: choice(actions.Edit, tc.comment)}
			p := open(cfg, 80, 24)
			if d := p.Draft(); d.Text != "" {
				t.Errorf("an untouched pane has the draft %q", d.Text)
			}
			tc.do(p)
			draft := p.Draft()
			if draft.Text == "" || draft.Thread != "t1" || draft.Question != "q1" || draft.Action != "edit" {
				t.Fatalf("draft %+v", draft)
			}
			cfg.Draft = &draft
			again := open(cfg, 80, 24)
			if again.Text() != p.Text() || !again.Dirty() {
				t.Errorf("came back as %q, was %q", again.Text(), p.Text())
			}
		})
	}
}

func TestSecretsAreNeitherDraftedNorWritten(t *testing.T) {
	q := question(actions.FormKind)
	q.Schema = json.RawMessage(`{"type":"object","properties":{"key":{"type":"string","format":"password"}}}`)
	p := open(editorpane.Config{Question: q, Choice: choice(actions.Submit, false)}, 80, 24)
	typeText(p, "hunter2")
	if d := p.Draft(); d.Text != "" {
		t.Errorf("drafted: %q", d.Text)
	}
	if r := press(p, "ctrl+o"); r != (editorpane.Stay{}) {
		t.Errorf("handed to an editor: %#v", r)
	}
	if strings.Contains(p.View(), "hunter2") {
		t.Error("echoed")
	}
}

func TestBlockedPaneKeepsTheText(t *testing.T) {
	p := open(editorpane.Config{Question: withContent(quoted("x")), Choice: choice(actions.Edit, false)}, 80, 24)
	typeText(p, "mine ")
	p.SetNotice("bob approved this 12 s ago. Your text is kept.", true)
	if r := press(p, "ctrl+s"); r != (editorpane.Stay{}) {
		t.Errorf("sent: %#v", r)
	}
	if view := ansi.Strip(p.View()); !strings.Contains(view, "bob approved this") {
		t.Errorf("does not say so:\n%s", view)
	}
	if p.Text() != "mine x" {
		t.Errorf("text %q", p.Text())
	}
}

func TestDrawings(t *testing.T) {
	form := question(actions.FormKind)
	form.Schema = json.RawMessage(`{"type":"object","required":["amount"],"properties":{"amount":{"type":"number","maximum":1900},` +
		`"kind":{"enum":["travel","meal"]},"note":{"type":"string"}}}`)
	for _, tc := range []struct {
		name string
		cfg  editorpane.Config
		do   func(p *editorpane.Pane)
	}{
		{"edit", editorpane.Config{Question: withContent(quoted(notes)), Choice: choice(actions.Edit, false)}, func(p *editorpane.Pane) {
			press(p, "down", "down", "end", "alt+backspace", "backspace")
			p.SetSaved(time.Date(2026, 11, 29, 12, 41, 7, 0, time.UTC))
		}},
		{"reject", editorpane.Config{Question: withContent(quoted(notes)), Choice: choice(actions.Reject, true)}, func(p *editorpane.Pane) {
			typeText(p, "Item 2 names the customer. Drop it and keep the rest.")
			press(p, "tab")
		}},
		{"form", editorpane.Config{Question: form, Choice: choice(actions.Submit, false)}, func(p *editorpane.Pane) {
			typeText(p, "2000")
			press(p, "ctrl+s")
		}},
		{"conflict", editorpane.Config{Question: withContent(quoted(notes)), Choice: choice(actions.Edit, false)}, func(p *editorpane.Pane) {
			p.SetNotice("bob approved this 12 s ago. Your text is kept.", true)
			press(p, "ctrl+t")
		}},
	} {
		for _, size := range tuitest.Sizes() {
			p := open(tc.cfg, size[0], size[1])
			tc.do(p)
			tuitest.CheckBox(t, p.View(), size[0], size[1])
			tuitest.Golden(t, fmt.Sprintf("%s-%dx%d", tc.name, size[0], size[1]), tuitest.Layout(p.View()))
		}
	}
}

func TestBoxForAnyTextAndSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := tuitest.AnyText().Draw(t, "text")
		q := withContent(quoted(text))
		q.Title, q.Message, q.Node = text, text, text
		a := rapid.SampledFrom([]actions.Action{actions.Edit, actions.Reject, actions.Submit, actions.Continue}).Draw(t, "action")
		w, h := rapid.IntRange(0, 170).Draw(t, "w"), rapid.IntRange(0, 40).Draw(t, "h")
		p := open(editorpane.Config{Question: q, Choice: choice(a, rapid.Bool().Draw(t, "comment"))}, w, h)
		p.SetNotice(text, false)
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "enter", "tab", "ctrl+t", "ctrl+r", "ctrl+s", "alt+down", "down"}), 0, 8).Draw(t, "keys") {
			press(p, k)
		}
		view := p.View()
		tuitest.CheckBox(t, view, w, h)
		if bad := tuitest.UnsafeIn(view); bad != "" {
			t.Fatalf("%s gets to the screen", bad)
		}
		if x, y, ok := p.Cursor(); ok && (x < 0 || x >= w || y < 0 || y >= h) {
			t.Fatalf("cursor %d,%d outside of %dx%d", x, y, w, h)
		}
	})
}

func BenchmarkKeyAtTheLimit(b *testing.B) {
	p := open(editorpane.Config{Question: withContent(quoted(strings.Repeat("a line of some length\n", 2900))), Choice: choice(actions.Edit, false)}, 160, 50)
	for b.Loop() {
		press(p, "x")
		_ = p.View()
		_, _, _ = p.Cursor()
	}
}

// TestThereAndBackLosesNothing: going from a form to raw JSON and back keeps what is half typed or wrong on either side.
func TestThereAndBackLosesNothing(t *testing.T) {
	q := question(actions.FormKind)
	q.Schema = json.RawMessage(`{"type":"object","properties":{"any":{},"n":{"type":"integer"},"in":{"type":"object","properties":{"a":{"type":"string"}}}}}`)
	p := open(editorpane.Config{Question: q, Choice: choice(actions.Submit, false)}, 100, 30)
	typeText(p, `{"half": `)
	press(p, "tab")
	typeText(p, "12x")
	form := ansi.Strip(p.View())
	press(p, "ctrl+r", "ctrl+r", "shift+tab", "tab")
	if got := ansi.Strip(p.View()); got != form {
		t.Errorf("the form was\n%s\nand is\n%s", form, got)
	}
	press(p, "ctrl+r")
	p.SetText("{ \"n\":5,\n\n \"other\": [1 , 2], \"in\": {\"b\": 1} }")
	press(p, "ctrl+r")
	if d := p.Draft(); d.Text != `{"n":5,"other":[1,2],"in":{"b":1}}` && !strings.Contains(d.Text, `"in":{"b":1}`) {
		t.Errorf("the form holds %s", d.Text)
	}
	press(p, "ctrl+r")
	if d := p.Draft(); d.Text != "{ \"n\":5,\n\n \"other\": [1 , 2], \"in\": {\"b\": 1} }" {
		t.Errorf("the JSON was typed otherwise than %s", d.Text)
	}
	p.SetText("{ broken")
	press(p, "ctrl+r")
	if view := ansi.Strip(p.View()); !strings.Contains(view, "not valid JSON at line 1") || !strings.Contains(view, "{ broken") {
		t.Errorf("what is no JSON is lost:\n%s", view)
	}
}
