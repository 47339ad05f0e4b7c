package textarea_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/textarea"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"pgregory.net/rapid"
)

func area(w, h int) *textarea.Area {
	a := textarea.New(theme.Must("", true))
	a.SetSize(w, h)
	return a
}

func press(a *textarea.Area, names ...string) {
	for _, n := range names {
		a.Update(tuitest.Key(n))
	}
}

func typeText(a *textarea.Area, s string) {
	for _, k := range tuitest.Text(s) {
		a.Update(k)
	}
}

func TestEditing(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(a *textarea.Area)
		want string
	}{
		{"type", func(a *textarea.Area) { typeText(a, "hello you") }, "hello you"},
		{"lines", func(a *textarea.Area) { typeText(a, "a\nb"); press(a, "ctrl+j"); typeText(a, "c") }, "a\nb\nc"},
		{"backspace joins lines", func(a *textarea.Area) { typeText(a, "a\nb"); press(a, "home", "backspace") }, "ab"},
		{"backspace at the start", func(a *textarea.Area) { press(a, "backspace"); typeText(a, "a") }, "a"},
		{"delete joins lines", func(a *textarea.Area) { typeText(a, "a\nb"); press(a, "up", "end", "delete") }, "ab"},
		{"delete at the end", func(a *textarea.Area) { typeText(a, "a"); press(a, "delete") }, "a"},
		{"word back", func(a *textarea.Area) { typeText(a, "one two_3 "); press(a, "ctrl+w") }, "one "},
		{"word forth", func(a *textarea.Area) { typeText(a, "one two"); press(a, "home", "alt+d") }, " two"},
		{"to the start", func(a *textarea.Area) { typeText(a, "one two"); press(a, "alt+b", "ctrl+u") }, "two"},
		{"to the end", func(a *textarea.Area) { typeText(a, "one two"); press(a, "alt+b", "ctrl+k") }, "one "},
		{"kill joins lines", func(a *textarea.Area) { typeText(a, "a\nb"); press(a, "up", "end", "ctrl+k") }, "ab"},
		{"wide characters whole", func(a *textarea.Area) { typeText(a, "世界"); press(a, "left", "backspace") }, "界"},
		{"clusters whole", func(a *textarea.Area) {
			a.Insert("e\u0301x👩‍👩‍👧")
			press(a, "backspace", "backspace", "backspace")
		}, ""},
		{"first and last", func(a *textarea.Area) {
			typeText(a, "b\nc")
			press(a, "ctrl+home")
			typeText(a, "a")
			press(a, "ctrl+end")
			typeText(a, "d")
		}, "ab\ncd"},
		{"up keeps the column", func(a *textarea.Area) {
			typeText(a, "abcdef\nx\nabcdef")
			press(a, "up", "up")
			typeText(a, "|")
		}, "abcdef|\nx\nabcdef"},
		{"paste with CR", func(a *textarea.Area) { a.Update(tea.PasteMsg{Content: "a\rb\r\nc"}) }, "a\nb\nc"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := area(20, 5)
			tc.do(a)
			if got := a.Value(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	a := textarea.NewLine(theme.Must("", true))
	a.SetSize(6, 1)
	a.Update(tea.PasteMsg{Content: "one\ntwo three"})
	if a.Value() != "one two three" {
		t.Errorf("value %q", a.Value())
	}
	if a.Update(tuitest.Key("enter")) || a.Update(tuitest.Key("up")) {
		t.Error("enter and up belong to the owner")
	}
	if got := ansi.Strip(a.View()); got != "three " {
		t.Errorf("shows %q: the end, where the cursor is", got)
	}
	if x, y, ok := a.Cursor(); x != 5 || y != 0 || !ok {
		t.Errorf("cursor %d,%d %v", x, y, ok)
	}
}

func TestMask(t *testing.T) {
	a := textarea.NewLine(theme.Must("", true))
	a.SetSize(10, 1)
	a.SetMask(true)
	typeText(a, "s3cret")
	if got := ansi.Strip(a.View()); strings.Contains(got, "s3") || !strings.HasPrefix(got, "******") {
		t.Errorf("shows %q", got)
	}
}

func TestWrappedRowsAndCursor(t *testing.T) {
	a := area(8, 4)
	typeText(a, "one two three")
	if got := ansi.Strip(a.View()); got != "one two \nthree   \n        \n        " {
		t.Errorf("shows %q", got)
	}
	if x, y, _ := a.Cursor(); x != 5 || y != 1 {
		t.Errorf("cursor %d,%d, want 5,1", x, y)
	}
	press(a, "up")
	typeText(a, "|")
	if got := a.Value(); got != "one t|wo three" && got != "one tw|o three" {
		t.Errorf("value %q: up moves by rows of the screen", got)
	}
}

// TestAgainstAPlainModel does the same edits to the field and to a slice of runes with a cursor.
func TestAgainstAPlainModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := area(rapid.IntRange(2, 30).Draw(t, "w"), rapid.IntRange(1, 6).Draw(t, "h"))
		var model []rune
		at := 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"type", "left", "right", "backspace", "delete", "home"}).Draw(t, "step") {
			case "type":
				r := rapid.SampledFrom([]rune("ab 世\n\"\\")).Draw(t, "rune")
				typeText(a, string(r))
				model = append(model[:at:at], append([]rune{r}, model[at:]...)...)
				at++
			case "left":
				press(a, "left")
				at = max(at-1, 0)
			case "right":
				press(a, "right")
				at = min(at+1, len(model))
			case "backspace":
				press(a, "backspace")
				if at > 0 {
					model = append(model[:at-1:at-1], model[at:]...)
					at--
				}
			case "delete":
				press(a, "delete")
				if at < len(model) {
					model = append(model[:at:at], model[at+1:]...)
				}
			case "home":
				press(a, "home")
				for at > 0 && model[at-1] != '\n' {
					at--
				}
			}
			if a.Value() != string(model) {
				t.Fatalf("value %q, want %q", a.Value(), string(model))
			}
			if _, _, ok := a.Cursor(); !ok {
				t.Fatalf("the cursor left the box: %q", a.Value())
			}
		}
	})
}

func TestSizeIsThatOfTheJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := area(30, 5)
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			a.Insert(tuitest.AnyText().Draw(t, "text"))
			press(a, rapid.SampledFrom([]string{"left", "up", "ctrl+w", "ctrl+k", "backspace", "home"}).Draw(t, "key"))
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(a.Value()); err != nil {
			t.Fatal(err)
		}
		if want := b.Len() - 1; a.JSONSize() != want {
			t.Fatalf("size %d, want %d for %q", a.JSONSize(), want, a.Value())
		}
	})
}

func TestBoxAndCursorForAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(0, 50).Draw(t, "w"), rapid.IntRange(0, 9).Draw(t, "h")
		a := area(w, h)
		text := tuitest.AnyText().Draw(t, "text")
		a.SetValue(text)
		if rapid.Bool().Draw(t, "end") {
			a.MoveToEnd()
		}
		press(a, rapid.SliceOfN(rapid.SampledFrom([]string{"down", "up", "right", "end", "pgdown", "pgup"}), 0, 9).Draw(t, "keys")...)
		view := a.View()
		tuitest.CheckBox(t, view, w, h)
		if bad := tuitest.UnsafeIn(view); bad != "" {
			t.Fatalf("%s gets to the screen: %q", bad, view)
		}
		if x, y, ok := a.Cursor(); ok && (x < 0 || x >= w || y < 0 || y >= h) {
			t.Fatalf("cursor %d,%d outside of %dx%d", x, y, w, h)
		} else if !ok && w > 2 && h > 0 {
			t.Fatalf("no cursor in %dx%d", w, h)
		}
	})
}

func TestPasteOf64KiB(t *testing.T) {
	a := area(80, 20)
	text := strings.Repeat("0123456789abcde\n", 4096)
	a.Update(tea.PasteMsg{Content: text})
	if a.Value() != text {
		t.Error("the paste came in altered")
	}
	if line, _ := a.Position(); line != 4097 {
		t.Errorf("cursor in line %d, want 4097", line)
	}
}

func benchmark(b *testing.B, text string) {
	a := area(200, 60)
	a.SetValue(text)
	press(a, "pgdown", "pgdown")
	for b.Loop() {
		a.Update(tuitest.Key("x"))
		_ = a.View()
		_, _, _ = a.Cursor()
	}
}

func BenchmarkKey10kLines(b *testing.B) {
	benchmark(b, strings.Repeat("a line of some length, as they are\n", 10_000))
}

func BenchmarkKeyOneLineOf64KiB(b *testing.B) { benchmark(b, strings.Repeat("word and ", 7282)) }
