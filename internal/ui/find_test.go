package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// strewn has the word needle in each part of a question, in nine lines that scroll.
func strewn(content json.RawMessage, kind string) actions.Question {
	return actions.Question{Kind: actions.Choice, Title: "Where is it?", Message: "A needle in the message.\n\nAnother needle there.", Content: content, ContentType: kind,
		Options: []actions.OptionItem{{Value: text("a"), Label: "First", Description: "with a needle"}, {Value: text("b"), Label: "Second"}},
		Context: []actions.Labelled{{Label: "about", Value: text("the needle around it")}}}
}

// strewnContents have the word in three lines each.
func strewnContents() map[string]actions.Question {
	return map[string]actions.Question{
		"text":     strewn(text("needle\nnone\nneedle\nnone\nneedle"), "text"),
		"markdown": strewn(text("# needle\n\nnone\n\n- needle\n- none\n- needle\n"), "markdown"),
		"code":     strewn(text("// needle\nfunc needle() {\n\tneedle()\n}\n"), "code/go"),
		"diff":     strewn(text("@@ -1,2 +1,2 @@\n-needle\n+a needle\n none\n-needle\n"), "diff"),
		"table":    strewn(json.RawMessage(`[{"id": "needle", "n": 1}, {"id": "needle", "n": 2}, {"id": "a needle", "n": 3}]`), ""),
		"tree":     strewn(json.RawMessage(`{"needle": 1, "list": [{"a": "none", "b": {"c": ["the needle"]}}], "letter": "Dear Ana,\n\nhere is the needle.\n\nYours"}`), "json"),
	}
}

// TestSearchFindsTextWhereverItIsDrawn: in message, content, options and context, also where the context is at the side; each
// is gone to in turn, on screen and marked then, and after the last the first comes again.
func TestSearchFindsTextWhereverItIsDrawn(t *testing.T) {
	for name, q := range strewnContents() {
		for _, size := range tuitest.Sizes() {
			for _, fold := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %dx%d fold %v", name, size[0], size[1], fold), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { walksAllNeedles(t, q, size, fold) })
				})
			}
		}
	}
}

func walksAllNeedles(t *testing.T, q actions.Question, size [2]int, fold bool) {
	l := start(t, contentDesk(t, q), size[0], size[1])
	l.Keys("enter")
	if l.View(); fold {
		l.Keys("j", "-", "g")
		l.View()
	}
	l.Keys("/")
	l.Type("needle")
	l.Keys("enter")
	mark := theme.NewPen(l.Model.(*Model).theme.CurrentMatch).Render("needle")
	const all = 7
	for k := range all + 1 {
		view := l.View()
		tuitest.CheckBox(t, view, size[0], size[1])
		state := fmt.Sprintf(`"needle" %d/%d`, k%all+1, all)
		if !strings.Contains(ansi.Strip(view), state) || strings.Count(view, mark) != 1 {
			t.Fatalf("%s is not told, or not one needle is marked as gone to but %d:\n%s", state, strings.Count(view, mark), ansi.Strip(view))
		}
		l.Keys("n")
	}
	l.Keys("N", "N")
	if view := ansi.Strip(l.View()); !strings.Contains(view, `"needle" 7/7`) && !strings.Contains(view, `"needle" 1/7`) {
		t.Errorf("N does not go back:\n%s", view)
	}
}

// TestSearchLooksAtTheHeadingToo: what stands only there is found and marked.
func TestSearchLooksAtTheHeadingToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, contentDesk(t, strewn(text("a text"), "text")), 80, 24)
		l.Keys("enter", "/")
		l.Type("where is")
		l.Keys("enter")
		view := l.View()
		if !strings.Contains(ansi.Strip(view), `"where is" 1/1`) || !strings.Contains(view, theme.NewPen(l.Model.(*Model).theme.CurrentMatch).Render("Where is")) {
			t.Errorf("the title is not found:\n%s", ansi.Strip(view))
		}
	})
}

// TestSizeThemeAndModeLoseNothing: what was searched for, folded and selected in a tree is still so afterwards.
func TestSizeThemeAndModeLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, contentDesk(t, strewnContents()["tree"]), 160, 50)
		m := l.Model.(*Model)
		l.Keys("enter")
		l.View()
		l.Keys("j", "j", "-") // list folded
		l.View()
		l.Keys("/")
		l.Type("needle")
		l.Keys("enter", "n", "n")
		before := ansi.Strip(l.View())
		path, _, _ := m.inbox.TreeAt()
		if !strings.Contains(before, `"needle" `) || path == "" {
			t.Fatalf("no search in a tree:\n%s", before)
		}
		for _, size := range [][2]int{{80, 24}, {40, 12}, {200, 60}, {160, 50}} {
			l.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			if view := ansi.Strip(l.View()); !strings.Contains(view, `"needle" `) {
				t.Errorf("at %v the search is gone:\n%s", size, view)
			}
		}
		file, err := theme.Load("high-contrast")
		if err != nil {
			t.Fatal(err)
		}
		m.setTheme(file, false)
		l.Keys("d", "d")
		after := strings.Replace(ansi.Strip(l.View()), "display: rendered", strings.Repeat(" ", len("display: rendered")), 1) // told in the status line
		if after != before {
			t.Errorf("was\n%s\nis\n%s", before, after)
		}
		if now, _, _ := m.inbox.TreeAt(); now != path {
			t.Errorf("the cursor was at %s, is at %s", path, now)
		}
	})
}

// TestLongIntroductionOfATree: a message longer than the screen is read before the tree.
func TestLongIntroductionOfATree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := strewnContents()["tree"]
		q.Message = ""
		for i := range 60 {
			q.Message += fmt.Sprintf("- point %d of it\n", i)
		}
		l := start(t, contentDesk(t, q), 80, 24)
		l.Keys("enter")
		seen := ""
		for range 120 {
			seen += ansi.Strip(l.View())
			l.Keys("j")
		}
		for i := range 60 {
			if !strings.Contains(seen, fmt.Sprintf("point %d of", i)) {
				t.Fatalf("point %d is never seen", i)
			}
		}
		for _, want := range []string{"needle: 1", "here is the needle.", "with a needle", "the needle around it"} {
			if !strings.Contains(seen, want) {
				t.Errorf("%s is never seen", want)
			}
		}
	})
}

// TestLargeContentIsLaidOutOnRequest: what opens raw because of its size is shown as what it is with d, laid out beside.
func TestLargeContentIsLaidOutOnRequest(t *testing.T) {
	for name, want := range map[string][]string{"json": {"tree", "{} 5 keys"}, "diff": {"rendered", "1 "}, "table": {"rendered", "id  name"}, "markdown": {"rendered", "Notes"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := large()[name]
				q.Title = "Is it good?"
				l := start(t, contentDesk(t, q), 160, 50)
				l.Keys("enter")
				if view := ansi.Strip(l.View()); !strings.Contains(view, "raw: over 262 kB") {
					t.Fatalf("does not open raw:\n%s", view)
				}
				l.Keys("d")
				l.Settle()
				view := ansi.Strip(l.View())
				for _, text := range want {
					if !strings.Contains(view, text) {
						t.Errorf("not %q:\n%s", text, view)
					}
				}
				if strings.Contains(view, "being laid out") {
					t.Errorf("still not laid out:\n%s", view)
				}
			})
		})
	}
}

// TestCopyValueAndPathOfATree: y, then v or p, copies what the cursor is at.
func TestCopyValueAndPathOfATree(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	out := filepath.Join(bin, "out")
	script := "#!/bin/sh\nwhile IFS= read -r line || [ -n \"$line\" ]; do echo \"$line\"; done > " + out + "\n"
	if err := os.WriteFile(filepath.Join(bin, "xclip"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		search, key, want string
	}{
		{"none", "p", "$.list[0].a\n"}, {"none", "v", "none\n"}, {"list", "v", "[\n  {\n    \"a\": \"none\",\n    \"b\": {\n      \"c\": [\n        \"the needle\"\n      ]\n    }\n  }\n]\n"},
		{"here is", "p", "$.letter\n"}, {"here is", "v", "Dear Ana,\n\nhere is the needle.\n\nYours\n"}, {"c:", "p", "$.list[0].b.c\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := strewnContents()["tree"]
			p := tuitest.Run(t, New(t.Context(), contentDesk(t, q), Options{StateDir: bin, Env: []string{"DISPLAY=:0"}}), 80, 24)
			defer p.Stop()
			p.Advance(settle)
			p.Keys("enter", "/")
			p.Type(tc.search)
			p.Keys("enter", "y", tc.key)
			p.Expect("copied with xclip")
			if got, err := os.ReadFile(out); err != nil || string(got) != tc.want {
				t.Errorf("%s %s: xclip got %q, %v, want %q", tc.search, tc.key, got, err, tc.want)
			}
		})
	}
}

// TestAllOfALongContextCanBeRead: in the raw display, also where the context stands at the side.
func TestAllOfALongContextCanBeRead(t *testing.T) {
	q := strewn(text("short"), "text")
	q.Context = []actions.Labelled{{Label: "log", Value: text(strings.Repeat("line\n", 30) + "the very last")}}
	for _, size := range tuitest.Sizes() {
		synctest.Test(t, func(t *testing.T) {
			l := start(t, contentDesk(t, q), size[0], size[1])
			l.Keys("enter")
			l.View()
			l.Keys("d", "/")
			l.Type("very last")
			l.Keys("enter")
			if screen := ansi.Strip(l.View()); !strings.Contains(screen, "the very last") {
				t.Errorf("%v:\n%s", size, screen)
			}
		})
	}
}
