package tuitest

import (
	"bytes"
	"image"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"

	"github.com/hitl-tui/hitl-tui/internal/tuitest/svg"
)

// Program is a whole Bubble Tea program that runs on virtual time and draws on an emulated terminal.
type Program struct {
	t       *testing.T
	program *tea.Program
	screen  *screen
	input   *io.PipeWriter
	done    chan struct{}
	model   tea.Model
	err     error
}

// frame is longer than the time between two frames.
const frame = 100 * time.Millisecond

// leftover is longer than any tick that a program leaves behind when it quits.
const leftover = 5 * time.Minute

// Run starts a model on a terminal of w by h cells. It must be called inside a testing/synctest bubble and ended with
// Stop before the bubble ends.
func Run(t *testing.T, m tea.Model, w, h int, opts ...tea.ProgramOption) *Program {
	t.Helper()
	in, feed := io.Pipe()
	p := &Program{t: t, screen: &screen{emulator: vt.NewEmulator(w, h)}, input: feed, done: make(chan struct{})}
	// The emulator answers queries on its own side; unread, it would block.
	go func() { _, _ = io.Copy(io.Discard, p.screen.emulator) }()
	all := append([]tea.ProgramOption{
		tea.WithInput(in), tea.WithOutput(p.screen), tea.WithWindowSize(w, h), tea.WithoutSignalHandler(),
		tea.WithEnvironment([]string{"TERM=xterm-256color", "COLORTERM=truecolor"}),
		tea.WithColorProfile(colorprofile.TrueColor), tea.WithFPS(20),
	}, opts...)
	p.program = tea.NewProgram(m, all...)
	go func() {
		defer close(p.done)
		p.model, p.err = p.program.Run()
	}()
	p.settle()
	return p
}

// screen guards the emulator, whose own guarded form leaves out half of what is read here.
type screen struct {
	mu       sync.Mutex
	emulator *vt.Emulator
}

// Write turns line feeds into what a terminal's line discipline makes of them: the program has no tty to do it.
func (s *screen) Write(b []byte) (int, error) {
	out := bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.emulator.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// with looks at the emulator while nobody writes to it.
func (s *screen) with(do func(*vt.Emulator)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s.emulator)
}

func (p *Program) settle() {
	synctest.Wait()
	time.Sleep(frame)
	synctest.Wait()
}

// Send gives the program messages.
func (p *Program) Send(msgs ...tea.Msg) {
	for _, m := range msgs {
		p.program.Send(m)
		synctest.Wait()
	}
}

// Keys presses keys by name, with no time between them.
func (p *Program) Keys(names ...string) {
	for _, n := range names {
		p.Send(Key(n))
	}
}

// Type types a text.
func (p *Program) Type(s string) {
	for _, k := range Text(s) {
		p.Send(k)
	}
}

// Input writes bytes to the program as a terminal would: for escape sequences and bracketed pastes.
func (p *Program) Input(s string) {
	if _, err := io.WriteString(p.input, s); err != nil {
		p.t.Fatalf("tuitest: input: %v", err)
	}
	p.settle()
}

// Paste pastes a text in brackets.
func (p *Program) Paste(s string) { p.Input("\x1b[200~" + s + "\x1b[201~") }

// Resize changes the terminal's size.
func (p *Program) Resize(w, h int) {
	p.screen.with(func(e *vt.Emulator) { e.Resize(w, h) })
	p.Send(tea.WindowSizeMsg{Width: w, Height: h})
}

// Advance lets time pass.
func (p *Program) Advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// Screen is what the terminal shows after the next frame, without styles; about 100 ms of virtual time pass.
func (p *Program) Screen() string {
	p.settle()
	var text string
	p.screen.with(func(e *vt.Emulator) { text = e.String() })
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \r")
	}
	return strings.Join(lines, "\n")
}

// Styled is the screen with its styles.
func (p *Program) Styled() string {
	p.settle()
	var text string
	p.screen.with(func(e *vt.Emulator) { text = e.Render() })
	return Styled(text)
}

// Picture is the screen as a document shows it, with the cursor where it is seen.
func (p *Program) Picture(o svg.Options) []byte {
	p.settle()
	var picture []byte
	p.screen.with(func(e *vt.Emulator) {
		if !e.CursorHidden() {
			o.Cursor = &image.Point{X: e.CursorPosition().X, Y: e.CursorPosition().Y}
		}
		picture = svg.Draw(e, o)
	})
	return picture
}

// Cursor is the terminal's cursor.
func (p *Program) Cursor() (x, y int) {
	p.settle()
	p.screen.with(func(e *vt.Emulator) { x, y = e.CursorPosition().X, e.CursorPosition().Y })
	return x, y
}

// Expect fails the test unless the screen shows every text.
func (p *Program) Expect(texts ...string) {
	p.t.Helper()
	screen := p.Screen()
	for _, s := range texts {
		if !strings.Contains(screen, s) {
			p.t.Fatalf("the screen does not show %q:\n%s", s, screen)
		}
	}
}

// Ended says whether the program has quit by itself.
func (p *Program) Ended() bool {
	p.settle()
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Stop quits the program if it still runs, waits past what it left behind, and gives its last model and its error.
func (p *Program) Stop() (tea.Model, error) {
	p.program.Quit()
	<-p.done
	_ = p.input.Close()
	p.screen.with(func(e *vt.Emulator) { _ = e.Close() })
	time.Sleep(leftover)
	synctest.Wait()
	return p.model, p.err
}
