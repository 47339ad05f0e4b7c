package tuitest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// counter counts seconds by itself and what is typed; q quits.
type counter struct {
	seconds int
	typed   string
	w, h    int
}

type second struct{}

func tick() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return second{} }) }

func (c counter) Init() tea.Cmd { return tick() }

func (c counter) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.w, c.h = msg.Width, msg.Height
	case second:
		c.seconds++
		return c, tick()
	case tea.PasteMsg:
		c.typed += "<" + msg.Content + ">"
	case string:
		c.typed += msg
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q":
			return c, tea.Quit
		case "s":
			say := func(s string) tea.Cmd { return func() tea.Msg { return s } }
			return c, tea.Sequence(say("one"), say("two"), say("three"))
		}
		c.typed += msg.String()
	}
	return c, nil
}

func (c counter) View() tea.View {
	v := tea.NewView("seconds " + itoa(c.seconds) + "\ntyped " + c.typed + "\nsize " + itoa(c.w) + "x" + itoa(c.h))
	v.AltScreen = true
	v.Cursor = tea.NewCursor(len("typed "+c.typed), 1)
	return v
}

func TestProgramOnVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Run(t, counter{}, 40, 12)
		p.Expect("seconds 0", "size 40x12")
		p.Advance(time.Hour)
		p.Expect("seconds 3600")
		p.Keys("a", "G")
		p.Paste("x\ny")
		p.Resize(80, 24)
		p.Expect("size 80x24")
		if got := strings.Split(p.Screen(), "\n")[1]; !strings.HasPrefix(got, "typed aG<x") {
			t.Errorf("line 1 is %q", got)
		}
		p.Keys("q")
		if !p.Ended() {
			t.Error("q did not end the program")
		}
		if _, err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestLoopDrainsCommandsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLoop(counter{}, 10, 5)
		l.Keys("s", "a")
		if got := l.Model.(counter).typed; got != "onetwothreea" {
			t.Errorf("typed %q", got)
		}
		l.Advance(3500 * time.Millisecond)
		if got := l.Model.(counter).seconds; got != 3 {
			t.Errorf("%d seconds, want 3", got)
		}
		l.Keys("q")
		if !l.Quit {
			t.Error("q did not quit")
		}
		time.Sleep(time.Minute)
	})
}

func TestKeyNames(t *testing.T) {
	for _, name := range []string{"a", "G", "?", "+", "space", "enter", "esc", "tab", "shift+tab", "ctrl+s", "alt+up",
		"pgdown", "ctrl+c", "ctrl+home", "é"} {
		if got := Key(name).String(); got != name {
			t.Errorf("Key(%q).String() = %q", name, got)
		}
	}
}

func TestBoxError(t *testing.T) {
	if e := BoxError("ab\ncd", 2, 2); e != "" {
		t.Error(e)
	}
	for _, bad := range []string{"ab\nc", "ab", "ab\ncd\nef", "a\u4e16\ncd"} {
		if BoxError(bad, 2, 2) == "" {
			t.Errorf("%q passes as 2x2", bad)
		}
	}
}

func TestTmux(t *testing.T) {
	x := NewTmux(t, 60, 10, t.TempDir(), []string{"GREETING=hello"}, "sh", "-c", `echo "$GREETING"; read line; echo "got $line"`)
	x.Await("hello", 10*time.Second)
	x.Type("it's")
	x.Keys("Enter")
	x.Await("got it's", 10*time.Second)
	x.Await("ended with 0", 10*time.Second)
}
