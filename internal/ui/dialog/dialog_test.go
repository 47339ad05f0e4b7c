package dialog_test

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
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/dialog"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"pgregory.net/rapid"
)

func kit() dialog.Kit { return dialog.Kit{Theme: theme.Must("", true), Keys: keymap.Default()} }

func press(d dialog.Dialog, names ...string) (r dialog.Result) {
	for _, n := range names {
		r = d.Update(tuitest.Key(n))
	}
	return r
}

func typeText(d dialog.Dialog, s string) {
	for _, k := range tuitest.Text(s) {
		d.Update(k)
	}
}

func choices() []desk.Choice {
	var out []desk.Choice
	for _, info := range actions.Table() {
		c := desk.Choice{Info: info, Allowed: info.Action != actions.Skip && info.Action != actions.Stop, Leads: "publish"}
		if !c.Allowed {
			c.Leads, c.Why = "", "this question does not allow it"
		}
		out = append(out, c)
	}
	return out
}

func options(n int) []actions.OptionItem {
	var out []actions.OptionItem
	for i := range n {
		out = append(out, actions.OptionItem{Value: json.RawMessage(fmt.Sprintf(`"v%d"`, i)), Label: fmt.Sprintf("Option %c", 'A'+i)})
	}
	return out
}

func entries() []desk.Entry {
	return []desk.Entry{
		{ID: "e1", State: desk.Unsent, SendAt: time.Unix(104, 0), Decision: desk.Decision{Thread: "t1", Action: "approve", Title: "Rotate keys"}},
		{ID: "e2", State: desk.Sending, Decision: desk.Decision{Thread: "t2", Action: "reject", Title: "Publish 1.8"}},
		{ID: "e3", State: desk.Refused, Err: "bob approved this 12 s ago", Decision: desk.Decision{Thread: "t3", Action: "edit"}},
	}
}

// TestResults presses keys in each dialog and reads what comes of them.
func TestResults(t *testing.T) {
	confirm := func() dialog.Dialog { return dialog.NewConfirm(kit(), "Skip?", "Skip this question", "skip it", false) }
	count := func() dialog.Dialog { return dialog.NewTypeToConfirm(kit(), "Prune", "1 204 steps", "1204") }
	menu := func() dialog.Dialog { return dialog.NewMenu(kit(), choices()) }
	one := func() dialog.Dialog { return dialog.NewChooser(kit(), "Pick", options(12), false) }
	many := func() dialog.Dialog { return dialog.NewChooser(kit(), "Pick", options(4), true) }
	ask := func() dialog.Dialog {
		return dialog.NewAsk(kit(), "Quit?", "2 answers are unsent", dialog.Item{ID: "send", Key: "s", Label: "send now"})
	}
	outbox := func() dialog.Dialog { return dialog.NewOutboxList(kit(), entries(), time.Unix(100, 0)) }
	messages := func() dialog.Dialog {
		return dialog.NewMessages(kit(), []dialog.Message{{Text: "old", Thread: "t1"}, {Text: "new", Thread: "t2", Danger: true}})
	}
	for _, tc := range []struct {
		name string
		open func() dialog.Dialog
		keys string
		want dialog.Result
	}{
		{"yes", confirm, "y", dialog.Confirmed{}}, {"no", confirm, "n", dialog.Closed{}}, {"esc", confirm, "esc", dialog.Closed{}},
		{"enter at the start is no", confirm, "enter", dialog.Closed{}}, {"space is nothing", confirm, "space", dialog.Stay{}},
		{"enter on yes", confirm, "tab enter", dialog.Confirmed{}}, {"a is nothing", confirm, "a", dialog.Stay{}},
		{"the count", count, "1 2 0 4 enter", dialog.Confirmed{}}, {"wrong count", count, "1 2 enter", dialog.Stay{}},
		{"y does not count", count, "y enter", dialog.Stay{}}, {"count esc", count, "1 2 0 4 esc", dialog.Closed{}},
		{"menu key", menu, "r", dialog.TakeAction{Action: actions.Reject}}, {"menu enter", menu, "down enter", dialog.TakeAction{Action: actions.Reject}},
		{"menu refused", menu, "S", dialog.Stay{}}, {"menu refused by enter", menu, "end enter", dialog.Stay{}},
		{"menu esc", menu, "esc", dialog.Closed{}}, {"menu space", menu, "space", dialog.Stay{}},
		{"digit decides", one, "3", dialog.Chosen{Options: []int{2}}}, {"digit beyond", many, "9", dialog.Stay{}},
		{"enter picks only", one, "down enter", dialog.AtSend{}}, {"space picks only", one, "space", dialog.Stay{}},
		{"enter again sends", one, "down enter enter", dialog.Chosen{Options: []int{1}}},
		{"enter after a change of mind", one, "down enter down enter", dialog.AtSend{}},
		{"enter again after it", one, "down enter down enter enter", dialog.Chosen{Options: []int{2}}},
		{"enter keeps what space picked", one, "space enter", dialog.AtSend{}}, {"and sends it", one, "space enter enter", dialog.Chosen{Options: []int{0}}},
		{"enter toggles of several", many, "enter down enter enter ctrl+s", dialog.Chosen{Options: []int{0}}},
		{"ctrl+s sends the picked", one, "down space ctrl+s", dialog.Chosen{Options: []int{1}}},
		{"ctrl+s without a pick", one, "ctrl+s", dialog.Stay{}},
		{"one pick replaces another", one, "space down space ctrl+s", dialog.Chosen{Options: []int{1}}},
		{"enter on Send", one, "space tab enter", dialog.Chosen{Options: []int{0}}},
		{"narrowed digit", one, "/ L enter 1", dialog.Chosen{Options: []int{11}}}, {"digits are text while narrowing", one, "/ 1 2", dialog.Stay{}},
		{"digits toggle", many, "3 1 3 2 ctrl+s", dialog.Chosen{Options: []int{0, 1}}}, {"none of several", many, "ctrl+s", dialog.Chosen{Options: []int{}}},
		{"chooser esc", one, "esc", dialog.Closed{}},
		{"ask", ask, "s", dialog.Picked{ID: "send"}}, {"ask esc", ask, "esc", dialog.Closed{}}, {"ask enter", ask, "enter", dialog.Stay{}},
		{"send now", outbox, "s", dialog.SendEntry{ID: "e1"}}, {"take back", outbox, "u", dialog.TakeBackEntry{ID: "e1"}},
		{"sending cannot be taken back", outbox, "down u", dialog.Stay{}}, {"go to the entry", outbox, "down enter", dialog.GoTo{Thread: "t2"}},
		{"newest message first", messages, "enter", dialog.GoTo{Thread: "t2"}}, {"messages close", messages, "q", dialog.Closed{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := tc.open()
			d.SetSize(80, 24)
			if diff := cmp.Diff(tc.want, press(d, strings.Fields(tc.keys)...)); diff != "" {
				t.Errorf("%s: %s", tc.keys, diff)
			}
		})
	}
}

func TestPalette(t *testing.T) {
	scopes := command.Stack(command.Review)
	why := func(id command.ID) string {
		if id == command.OpenHistory {
			return "no thread is selected"
		}
		return ""
	}
	p := dialog.NewPalette(kit(), scopes, why)
	p.SetSize(80, 24)
	typeText(p, "redr")
	if r := press(p, "enter"); r != (dialog.Run{ID: command.Redraw}) {
		t.Errorf("redr gives %#v:\n%s", r, ansi.Strip(p.View()))
	}
	p = dialog.NewPalette(kit(), scopes, why)
	p.SetSize(80, 24)
	typeText(p, "history")
	if r := press(p, "enter"); r != (dialog.Stay{}) {
		t.Errorf("a disabled command runs: %#v", r)
	}
	if view := ansi.Strip(p.View()); !strings.Contains(view, "no thread is selected") {
		t.Errorf("does not say why:\n%s", view)
	}
	p = dialog.NewPalette(kit(), scopes, nil)
	p.SetSize(80, 24)
	typeText(p, "theme")
	if r := press(p, "enter"); r != (dialog.Run{ID: command.NextTheme}) {
		t.Errorf("a keyless command is not found: %#v", r)
	}
}

func TestHelpNarrows(t *testing.T) {
	h := dialog.NewHelp(kit(), command.Stack(command.Editor))
	h.SetSize(100, 30)
	view := ansi.Strip(h.View())
	if !strings.Contains(view, "^S") || strings.Contains(view, "Approve") {
		t.Errorf("help of the editor shows other keys:\n%s", view)
	}
	typeText(h, "discard")
	if view = ansi.Strip(h.View()); !strings.Contains(view, "^X") || strings.Contains(view, "^S") {
		t.Errorf("not narrowed:\n%s", view)
	}
	if r := press(h, "esc"); r != (dialog.Closed{}) {
		t.Errorf("esc gives %#v", r)
	}
}

func TestOutboxCountsDown(t *testing.T) {
	o := dialog.NewOutboxList(kit(), entries(), time.Unix(100, 0))
	o.SetSize(80, 24)
	if view := ansi.Strip(o.View()); !strings.Contains(view, "sends in 4 s") || !strings.Contains(view, "! bob approved this") {
		t.Errorf("shows:\n%s", view)
	}
	o.SetEntries(entries(), time.Unix(102, 0))
	if view := ansi.Strip(o.View()); !strings.Contains(view, "sends in 2 s") {
		t.Errorf("shows:\n%s", view)
	}
}

// all makes one of each dialog around a text.
func all(text string) map[string]dialog.Dialog {
	k := kit()
	hostile := choices()
	for i := range hostile {
		hostile[i].Leads, hostile[i].Why = text, text
	}
	opts := options(3)
	opts[0].Label, opts[1].Description = text, text
	return map[string]dialog.Dialog{
		"confirm": dialog.NewConfirm(k, text, text, text, true), "count": dialog.NewTypeToConfirm(k, text, text, "1204"),
		"ask":  dialog.NewAsk(k, text, text, dialog.Item{ID: "i", Key: "i", Label: text}, dialog.Item{ID: "t", Key: "t", Label: "text"}),
		"menu": dialog.NewMenu(k, hostile), "chooser": dialog.NewChooser(k, text, opts, true),
		"palette":  dialog.NewPalette(k, command.Stack(command.Review), func(command.ID) string { return text }),
		"help":     dialog.NewHelp(k, command.Stack(command.Question)),
		"messages": dialog.NewMessages(k, []dialog.Message{{Text: text, Danger: true}, {Text: "plain"}}),
		"outbox": dialog.NewOutboxList(k, []desk.Entry{{ID: "1", State: desk.Unsent, Decision: desk.Decision{Title: text, Action: text}},
			{ID: "2", Err: text}}, time.Unix(0, 0)),
	}
}

func TestEveryDialogFitsSafely(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := tuitest.AnyText().Draw(t, "text")
		w, h := rapid.IntRange(8, 170).Draw(t, "w"), rapid.IntRange(4, 50).Draw(t, "h")
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"down", "a", "/", "tab", "enter", "x", "pgdown"}), 0, 4).Draw(t, "keys")
		for name, d := range all(text) {
			d.SetSize(w, h)
			d.Update(tea.PasteMsg{Content: text})
			press(d, keys...)
			view := d.View()
			lines := strings.Split(view, "\n")
			width := ansi.StringWidth(lines[0])
			if width > w || len(lines) > h {
				t.Fatalf("%s takes %dx%d of %dx%d", name, width, len(lines), w, h)
			}
			if e := tuitest.BoxError(view, width, len(lines)); e != "" {
				t.Fatalf("%s: %s", name, e)
			}
			if bad := tuitest.UnsafeIn(view); bad != "" {
				t.Fatalf("%s lets %s through", name, bad)
			}
			if x, y, ok := d.Cursor(); ok && w > 50 && h > 10 && (x >= w || y >= h) {
				t.Fatalf("%s: cursor %d,%d outside of %dx%d", name, x, y, w, h)
			}
		}
	})
}

func TestDrawings(t *testing.T) {
	for _, size := range tuitest.Sizes() {
		for name, d := range all("Publish these notes? 世界") {
			d.SetSize(size[0], size[1])
			tuitest.Golden(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), tuitest.Layout(d.View()))
		}
	}
}
