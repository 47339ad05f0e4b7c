package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// The palette gives the mouse back to the terminal, and takes it, at once; the configuration says how it begins.
func TestMouseIsSwitched(t *testing.T) {
	for _, without := range []bool{false, true} {
		m := New(t.Context(), world(t), Options{NoMouse: without})
		for i := range 3 {
			want := tea.MouseModeCellMotion
			if without != (i%2 == 1) {
				want = tea.MouseModeNone
			}
			if got := m.View().MouseMode; got != want {
				t.Errorf("without %v, switched %d times: %v", without, i, got)
			}
			m.runNamed(command.ToggleMouse)
		}
	}
}

// With reduced motion nothing on the screen changes by itself between an answer and its sending.
func TestReducedMotion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := world(t)
		m := New(t.Context(), d, Options{StateDir: t.TempDir(), ReducedMotion: true})
		l := tuitest.NewLoop(m, 80, 24)
		defer time.Sleep(10 * time.Minute)
		l.Advance(settle)
		l.Keys("a")
		l.Advance(settle)
		before := l.View()
		at := d.Outbox()[0].SendAt.Format("15:04:05")
		if !strings.Contains(ansi.Strip(before), "sends at "+at) {
			t.Errorf("when it is sent is not told:\n%s", ansi.Strip(before))
		}
		l.Advance(3 * time.Second)
		if after := l.View(); after != before {
			t.Errorf("the screen moved:\n%s", ansi.Strip(after))
		}
		l.Keys("U")
		if !strings.Contains(ansi.Strip(l.View()), "sends at "+at+" ") {
			t.Errorf("the outbox counts down:\n%s", ansi.Strip(l.View()))
		}
	})
}

func TestNotification(t *testing.T) {
	env := func(vars ...string) func(string) string {
		return func(name string) string { return getenv(vars, name) }
	}
	for want, getenv := range map[string]func(string) string{
		"\x1b]9;hi\x1b\\":                         env("TERM=xterm-256color"),
		"\x1bPtmux;\x1b\x1b]9;hi\x1b\x1b\\\x1b\\": env("TERM=tmux-256color", "TMUX=/s,1,0"),
		"": env("TERM=linux"),
	} {
		if got := notification(getenv, "hi"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	m := New(t.Context(), world(t), Options{Notify: true, Env: []string{"TERM=xterm"}})
	m.Update(tea.BlurMsg{})
	raw, _ := m.ring("2 questions wait")().(tea.RawMsg)
	if fmt.Sprint(raw.Msg) != "\x1b]9;hitl-tui: 2 questions wait\x1b\\" {
		t.Errorf("%q", raw.Msg)
	}
}

// fields leads to every place where text is typed, from a desk whose first question is the notes.
func fields() map[string][]string {
	return map[string][]string{
		"filter": {"f"}, "search": {"/"}, "search of the question": {"enter", "/"}, "palette": {":"}, "help": {"?"},
		"editor": {"j", "enter", "e"}, "reason": {"j", "enter", "r"}, "raw JSON": {"j", "j", "enter", "s", "y", "ctrl+r"},
		"form": {"j", "j", "enter", "s", "y", "tab"}, "chooser": {"j", "j", "j", "j", "enter", "c", "/"}, "bounds": {"7", "b"},
	}
}

// The terminal's own cursor stands right behind what was typed, in every field: there an input method shows what it composes.
func TestCursorStandsBehindWhatIsTyped(t *testing.T) {
	const typed = "世界e\u0301ü"
	for name, keys := range fields() {
		for _, size := range tuitest.Sizes() {
			t.Run(fmt.Sprintf("%s_%d", name, size[0]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := start(t, world(t), size[0], size[1])
					for _, k := range keys {
						l.Keys(k)
						l.View()
						l.Advance(settle)
					}
					l.Send(tea.PasteMsg{Content: typed})
					l.View()
					v := l.Model.View()
					if v.Cursor == nil {
						t.Fatalf("no cursor:\n%s", ansi.Strip(v.Content))
					}
					line := strings.Split(ansi.Strip(v.Content), "\n")[v.Cursor.Y]
					if left := ansi.Cut(line, 0, v.Cursor.X); !strings.HasSuffix(left, typed) {
						t.Errorf("the cursor is at %d,%d, behind %q:\n%s", v.Cursor.X, v.Cursor.Y, left, ansi.Strip(v.Content))
					}
				})
			})
		}
	}
}

// odd are titles that terminals count differently, or whose letters run from right to left.
func odd() []string {
	return []string{"世界こんにちは 発行", "👩‍👩‍👧‍👦 joined", "❤️ heart", "🇩🇪🇫🇷 flags", "👍🏽 skin", "1️⃣ keycap", "e\u0301\u0302 combining", "שלום עולם", "مرحبا بالعالم",
		"\u202eoverridden\u202c", "\u2067isolated\u2069", "\u200fmark", "क्षत्रिय"}
}

// Whatever is in a row, what stands right of it stays in its column; nothing reorders a line, and controls of order are seen.
func TestOddTextStaysInItsCell(t *testing.T) {
	for _, clusters := range []bool{false, true} {
		for _, size := range tuitest.Sizes() {
			synctest.Test(t, func(t *testing.T) {
				d := world(t)
				for i, title := range odd() {
					id := fmt.Sprintf("t-odd-%02d", i)
					d.Add(desk.Detail{Thread: desk.Thread{ID: id, Workflow: title, Node: title, WaitingSince: d.Now().Add(-time.Hour)},
						Questions: []desk.Question{{ID: id, Address: title, Asked: d.Now(), ShownHash: "x",
							Question: actions.Question{Kind: actions.Approval, Title: title, Message: strings.Join(odd(), "\n"), Content: text("| a | b |\n|---|---|\n| " + strings.Join(odd(), " | x |\n| ") + " | x |\n"),
								ContentType: "markdown"}}}})
				}
				l := start(t, d, size[0], size[1])
				wide := ansi.StringWidthWc
				if clusters {
					l.Send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset})
					wide = ansi.StringWidth
				}
				for range 20 {
					l.Keys("j")
					l.Advance(settle)
					view := l.View()
					if bad := tuitest.UnsafeIn(view); bad != "" {
						t.Fatalf("%s is drawn", bad)
					}
					for _, line := range strings.Split(ansi.Strip(view), "\n") {
						if n := wide(line); n != size[0] {
							t.Fatalf("%d cells of %d: %q", n, size[0], line)
						}
					}
				}
			})
		}
	}
}

// Hundreds of sizes in a row, impossible ones among them: the last is drawn whole, and none costs more than a frame.
func TestSizesInARow(t *testing.T) {
	for name, keys := range screens() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := scene{stocked, keys}.show(t, 80, 24, true)
				want := l.View()
				sizes := [][2]int{{1, 1}, {0, 0}, {500, 200}, {24, 6}, {1, 200}, {500, 1}, {23, 5}}
				for i := range 200 {
					sizes = append(sizes, [2]int{1 + i*37%300, 1 + i*13%90})
				}
				for _, s := range sizes {
					l.Model.Update(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
					if e := tuitest.BoxError(l.View(), s[0], s[1]); e != "" {
						t.Fatalf("%dx%d: %s", s[0], s[1], e)
					}
				}
				l.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
				tuitest.CheckBox(t, l.View(), 80, 24)
				if got := l.View(); name != "diff" && name != "tree" && ansi.Strip(got) != ansi.Strip(want) {
					t.Errorf("the screen is not what it was:\n%s\nwas:\n%s", ansi.Strip(got), ansi.Strip(want))
				}
			})
		})
	}
}

// 64 KiB with controls in them, in one paste: into a pane it is text, outside of one it is nothing.
func TestLargePaste(t *testing.T) {
	hostile := "\x1b[2J\x1b]52;c;aGk=\x07a\x03q\r\no\x00\u202e"
	paste := strings.Repeat(hostile+strings.Repeat("x", 100)+"\n", actions.MaxSize/130)
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Send(tea.PasteMsg{Content: paste})
		p.Expect("pasted text is ignored")
		wantOutbox(t, d)
		p.Keys("j")
		p.Advance(settle)
		p.Keys("r")
		p.Send(tea.PasteMsg{Content: paste})
		p.Send(tea.PasteMsg{Content: strings.Repeat("y", actions.MaxSize)})
		p.Expect("bytes too many")
		p.Keys("ctrl+s")
		p.Advance(settle)
		wantOutbox(t, d)
		p.Keys("esc")
		p.Advance(time.Second)
		q, err := d.Open(t.Context(), "t-notes-7f3k")
		if err != nil {
			t.Fatal(err)
		}
		kept := d.Draft(q.Questions[0])
		if want := strings.ReplaceAll(paste, "\r\n", "\n") + strings.Repeat("y", actions.MaxSize); kept == nil || kept.Text != want {
			t.Errorf("what was pasted is not kept whole")
		}
	})
}

// The title counts what waits, and the terminal is told that a question blocks.
func TestTerminalIsToldWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, world(t), 80, 24)
		v := l.Model.View()
		s := v.ProgramStatus
		if v.WindowTitle != "(9) hitl-tui" || s.State != tea.ProgramStateBlocked || s.Kind != tea.ProgramStatusKindQuestion || s.Message != "9 questions wait" {
			t.Errorf("%q %+v", v.WindowTitle, s)
		}
	})
}
