package component_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/code"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/diffview"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/footer"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/jsontree"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/markdown"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/statusbar"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/table"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/tabs"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"pgregory.net/rapid"
)

// viewers makes one of each view of content, all showing the same text as well as they can.
func viewers(th *theme.Theme, text string) map[string]component.Viewer {
	p := pager.New(th)
	p.SetText(text)
	m := markdown.New(th)
	m.SetContent(text)
	c := code.New(th)
	c.SetContent(text, "go")
	d := diffview.New(th)
	d.SetDiff(diffview.Compare("old\n"+text, text+"\nnew", 3))
	u := diffview.New(th)
	u.SetDiff(diffview.ParseUnified(text))
	raw, err := json.Marshal([]map[string]any{{"a": text, text: 1.5}, {"a": nil, "b": true}})
	if err != nil {
		panic(err)
	}
	tr := jsontree.New(th)
	if err := tr.SetJSON(raw); err != nil {
		panic(err)
	}
	tb := table.New(th)
	if r, ok := table.Parse(raw); ok {
		tb.SetRecords(r)
	}
	return map[string]component.Viewer{"pager": p, "markdown": m, "code": c, "diff": d, "unified": u, "tree": tr, "table": tb}
}

func TestEveryViewFillsItsBoxSafely(t *testing.T) {
	th := theme.Must("", true)
	rapid.Check(t, func(t *rapid.T) {
		text := tuitest.AnyText().Draw(t, "text")
		w, h := rapid.IntRange(0, 90).Draw(t, "w"), rapid.IntRange(0, 20).Draw(t, "h")
		steps := rapid.SliceOfN(rapid.IntRange(0, 8), 0, 6).Draw(t, "steps")
		for name, v := range viewers(th, text) {
			v.SetSize(w, h)
			for _, s := range steps {
				step(v, s, text)
			}
			v.SetSize(w, h)
			view := v.View()
			if e := tuitest.BoxError(view, w, h); e != "" {
				t.Fatalf("%s is no box of %dx%d: %s", name, w, h, e)
			}
			if bad := tuitest.UnsafeIn(view); bad != "" {
				t.Fatalf("%s lets %s through: %q", name, bad, view)
			}
			_ = v.Position()
		}
	})
}

func step(v component.Viewer, n int, text string) {
	switch n {
	case 0:
		v.Scroll(1)
	case 1:
		v.Page(1)
	case 2:
		v.HalfPage(-1)
	case 3:
		v.Bottom()
	case 4:
		v.Top()
	case 5:
		v.Search(text[:min(len(text), 2)])
	case 6:
		v.Next(1)
	case 7:
		v.SetTheme(theme.Must("high-contrast", false))
	case 8:
		v.SetSize(17, 3)
		v.SetSize(90, 20)
	}
}

func TestEveryLineOfChromeFitsSafely(t *testing.T) {
	th := theme.Must("", true)
	km := keymap.Default()
	rapid.Check(t, func(t *rapid.T) {
		text := tuitest.AnyText().Draw(t, "text")
		w := rapid.IntRange(1, 170).Draw(t, "w")
		lines := footer.Lines(th, km, footer.Of(command.ForAction("approve"), command.OpenHistory, command.Filter, command.Claim),
			footer.Of(command.Help), w, 2)
		lines = append(lines,
			statusbar.View(th, []statusbar.Part{{Text: text}, {Text: text, Level: statusbar.Danger}}, []statusbar.Part{{Text: text}}, w),
			tabs.View(th, []tabs.Tab{{Key: "1", Label: "Waiting", Short: "WAIT", Count: 12}, {Key: "2", Label: "Failed", Count: 1, Alarm: true},
				{Key: "3", Label: "Everything", Count: -1}}, rapid.IntRange(0, 2).Draw(t, "active"), text, w))
		for i, l := range lines {
			if e := tuitest.BoxError(l, w, 1); e != "" {
				t.Fatalf("line %d at %d: %s", i, w, e)
			}
			if bad := tuitest.UnsafeIn(l); bad != "" {
				t.Fatalf("line %d lets %s through", i, bad)
			}
		}
	})
}

const sample = "# Changes for 1.9\n\nThe schema moved to version 4. A store written by **0.3** is *migrated* at the first start; see " +
	"[the guide](https://example.org/guide) or [bank.example](https://evil.example).\n\n- Fix race in `resume` (thanks Bo)\n" +
	"- Titles in CJK keep their width: 世界\n  1. nested\n  2. twice\n- [x] done\n\n> quoted text that is long enough to be wrapped on a narrow " +
	"screen\n\n```go\nfunc main() { fmt.Println(\"hi\", 42) } // comment\n```\n\n| name | amount |\n|---|---|\n| Ana | 12.50 |\n| 世界 | 7 |\n\n" +
	"---\n\n<b>raw</b> &amp; entities &#x202e;\n"

const records = `[{"id":"A-1042","amount":1240.5,"who":"ana","ok":true},{"id":"A-7","amount":3,"who":"bo with a very long name that must give way","ok":null}]`

// TestDrawings draws every view at three sizes, as it looks without colours.
func TestDrawings(t *testing.T) {
	th := theme.Must("", true)
	for _, size := range tuitest.Sizes() {
		w, h := size[0], size[1]
		views := map[string]component.Viewer{}
		m := markdown.New(th)
		m.SetContent(sample)
		views["markdown"] = m
		c := code.New(th)
		c.SetContent("package main\n\n// a comment\nfunc main() {\n\tprintln(\"hi\", 42)\n}\n", "go")
		views["code"] = c
		d := diffview.New(th)
		d.SetDiff(diffview.Compare("a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nD\ne\nf\ng\nh\ni\n", 1))
		views["diff"] = d
		tb := table.New(th)
		r, ok := table.Parse(json.RawMessage(records))
		if !ok {
			t.Fatal("records are no table")
		}
		tb.SetRecords(r)
		views["table"] = tb
		tr := jsontree.New(th)
		if err := tr.SetJSON(json.RawMessage(`{"claims":` + records + `,"empty":{},"none":null,"a.b":"x\ny"}`)); err != nil {
			t.Fatal(err)
		}
		tr.Scroll(3)
		tr.Toggle()
		views["jsontree"] = tr
		for name, v := range views {
			v.SetSize(w, h)
			tuitest.Golden(t, fmt.Sprintf("%s-%dx%d", name, w, h), tuitest.Layout(v.View()))
		}
		tuitest.Golden(t, fmt.Sprintf("chrome-%d", w), tuitest.Layout(strings.Join(chrome(th, w), "\n")))
	}
}

func chrome(th *theme.Theme, w int) []string {
	items := []tabs.Tab{{Key: "1", Label: "Waiting", Short: "WAIT", Count: 12}, {Key: "2", Label: "Running", Short: "run", Count: 2},
		{Key: "3", Label: "Failed", Short: "FAIL", Count: 1, Alarm: true}, {Key: "4", Label: "Finished", Short: "done", Count: 340},
		{Key: "5", Label: "All", Count: 355}, {Key: "7", Label: "Retention", Short: "keep", Count: -1}}
	keys := []footer.Item{{ID: command.ForAction("approve"), Leads: "publish"}, {ID: command.ForAction("edit"), Leads: "publish"},
		{ID: command.ForAction("retry"), Leads: "draft"}, {ID: command.ForAction("reject"), Leads: "END"}}
	keys = append(keys, footer.Of(command.Filter, command.Search, command.OpenHistory, command.NextQuestion)...)
	lines := []string{tabs.View(th, items, 0, "desk.db", w), statusbar.View(th, []statusbar.Part{{Text: "approved: Rotate keys, sends in 4 s"},
		{Text: "u take back", Level: statusbar.Muted}}, []statusbar.Part{{Text: "failed: Publish 1.7", Level: statusbar.Danger}}, w)}
	return append(lines, footer.Lines(th, keymap.Default(), keys, footer.Of(command.Help, command.OpenPalette), w, 2)...)
}

// TestStyles keeps the colours of a small screen, dark and light, in both themes.
func TestStyles(t *testing.T) {
	for _, name := range theme.Names() {
		for _, dark := range []bool{true, false} {
			th := theme.Must(name, dark)
			m := markdown.New(th)
			m.SetContent(sample)
			m.SetSize(60, 14)
			mode := "light"
			if dark {
				mode = "dark"
			}
			tuitest.Golden(t, "style-"+name+"-"+mode, tuitest.Styled(m.View()+"\n"+strings.Join(chrome(th, 60), "\n")))
		}
	}
}

func TestDeceptiveTextIsShownNotObeyed(t *testing.T) {
	m := markdown.New(theme.Must("", true))
	m.SetContent("[bank.example](https://evil.example) and &#x202e;gnp.exe &#27;[31m and [x](javascript:alert(1)) <b>html</b>")
	m.SetSize(150, 3)
	view := ansi.Strip(m.View())
	for _, want := range []string{"deceptive", "https://evil.example", "<U+202E>", "<b>html</b>", "^[[31m", "javascript:"} {
		if !strings.Contains(view, want) {
			t.Errorf("does not show %q: %s", want, view)
		}
	}
}

func TestCodeNeverChangesTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := tuitest.AnyText().Draw(t, "text")
		lang := rapid.SampledFrom([]string{"go", "json", "yaml", "python", "diff", "html", "sh", "nonsense"}).Draw(t, "language")
		want := pager.Text(text)
		got := code.Source(theme.Must("", true), text, lang)
		if got.Len() != want.Len() {
			t.Fatalf("%d lines, want %d", got.Len(), want.Len())
		}
		for i := range want {
			if ansi.Strip(got.Line(i)) != want[i] {
				t.Fatalf("line %d is %q, want %q", i, ansi.Strip(got.Line(i)), want[i])
			}
		}
	})
}

func TestDiffRebuildsBothTexts(t *testing.T) {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "世"}), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		old, cur := lines.Draw(t, "old"), lines.Draw(t, "new")
		d := diffview.Compare(joined(old), joined(cur), -1)
		var before, after []string
		added, removed := 0, 0
		for _, l := range d.Lines {
			switch l.Kind {
			case diffview.Added:
				after = append(after, l.Text)
				added++
			case diffview.Removed:
				before = append(before, l.Text)
				removed++
			default:
				before, after = append(before, l.Text), append(after, l.Text)
			}
		}
		if joined(before) != joined(old) || joined(after) != joined(cur) || added != d.Added || removed != d.Removed {
			t.Fatalf("%q to %q gives %+v", old, cur, d)
		}
	})
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestDiffSummary(t *testing.T) {
	for _, tc := range []struct{ before, after, want string }{
		{"a\n", "a\n", "no change"}, {"a\nb\n", "a\nc\n", "1 line changed of 2"}, {"a\n", "a\nb\n", "1 line added of 2"},
		{"a\nb\nc\n", "a\n", "2 lines removed of 1"}, {"a\n", "b\nc\n", "2 lines added, 1 removed of 2"},
	} {
		if got := diffview.Compare(tc.before, tc.after, 3).Summary(); got != tc.want {
			t.Errorf("%q to %q: %q, want %q", tc.before, tc.after, got, tc.want)
		}
	}
}

func TestJSONTree(t *testing.T) {
	tr := jsontree.New(theme.Must("", true))
	tr.SetSize(60, 10)
	if err := tr.SetJSON(json.RawMessage(`{"claims":[{"amount":12.50,"who":"Ana"}],"a.b":{"c":null}}`)); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		query, path, value string
	}{
		{"ana", "$.claims[0].who", `"Ana"`}, {"amount", "$.claims[0].amount", "12.50"}, {"null", `$["a.b"].c`, "null"},
	} {
		tr.FoldAll()
		if n := tr.Search(tc.query); n != 1 {
			t.Errorf("%s: %d found, want 1", tc.query, n)
		}
		if tr.Path() != tc.path || string(tr.Value()) != tc.value {
			t.Errorf("%s: %s = %s, want %s = %s", tc.query, tr.Path(), tr.Value(), tc.path, tc.value)
		}
	}
	tr.Top()
	if got := string(tr.Value()); got != `{"claims":[{"amount":12.50,"who":"Ana"}],"a.b":{"c":null}}` {
		t.Errorf("value of the root: %s", got)
	}
	tr.Fold()
	if !strings.HasPrefix(tr.Position(), "row 1/1 ") {
		t.Errorf("folded: %s", tr.Position())
	}
	if err := tr.SetJSON(json.RawMessage(`{"a":`)); err == nil {
		t.Error("broken JSON is taken")
	}
}

func TestTablesAreOnlyMadeOfFlatRecords(t *testing.T) {
	for raw, want := range map[string]bool{records: true, `[]`: false, `[1]`: false, `[{"a":{}}]`: false, `{}`: false, ``: false, `[{"a":1}`: false,
		`[{"a":1},{"b":2}]`: true} {
		r, ok := table.Parse(json.RawMessage(raw))
		if ok != want {
			t.Errorf("%s: %v, want %v", raw, ok, want)
		}
		if ok && raw != records && len(r.Columns) != 2 {
			t.Errorf("%s: columns %q", raw, r.Columns)
		}
	}
}

func bench(b *testing.B, v component.Viewer) {
	v.SetSize(200, 60)
	for b.Loop() {
		v.Scroll(1)
		_ = v.View()
		_ = v.Position()
	}
}

func BenchmarkMarkdown250KB(b *testing.B) {
	v := markdown.New(theme.Must("", true))
	v.SetContent(strings.Repeat(sample, 300))
	bench(b, v)
}

func BenchmarkMarkdownOpen250KB(b *testing.B) {
	text := strings.Repeat(sample, 300)
	v := markdown.New(theme.Must("", true))
	v.SetSize(100, 40)
	for b.Loop() {
		v.SetContent(text)
		_ = v.View()
	}
}

func BenchmarkCode250KB(b *testing.B) {
	v := code.New(theme.Must("", true))
	v.SetContent(strings.Repeat("func main() { println(\"hi\", 42) } // c\n", 6000), "go")
	bench(b, v)
}

func BenchmarkTree1MB(b *testing.B) {
	v := jsontree.New(theme.Must("", true))
	if err := v.SetJSON(json.RawMessage("[" + strings.Repeat(`{"id":"A-1042","amount":1240.5},`, 32000) + "1]")); err != nil {
		b.Fatal(err)
	}
	v.OpenAll()
	bench(b, v)
}

func BenchmarkTable10k(b *testing.B) {
	v := table.New(theme.Must("", true))
	r, _ := table.Parse(json.RawMessage("[" + strings.Repeat(`{"id":"A-1042","amount":1240.5},`, 10000) + `{"id":"x"}]`))
	v.SetRecords(r)
	bench(b, v)
}

func BenchmarkDiff1MB(b *testing.B) {
	text := strings.Repeat("a line of some length, as they are\n", 30_000)
	for b.Loop() {
		diffview.Compare(text, text[:500_000]+"x"+text[500_000:], 3)
	}
}
