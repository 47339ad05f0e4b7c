// Package plain is the desk as plain questions and answers, line by line, for screen readers and for terminals on which
// nothing can be drawn: nothing moves, nothing is overwritten, no colour or place carries a meaning.
//
// It is a face of internal/desk like the drawn one: the same questions, actions, checks, outbox and time to take back.
package plain

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
)

// Desk is the part of the desk's use cases that is used here. *desk.Masked is one.
type Desk interface {
	Threads(ctx context.Context, q desk.Query) (desk.Page, error)
	Counts(ctx context.Context) (desk.Counts, error)
	Open(ctx context.Context, thread string) (*desk.Detail, error)
	Respond(ctx context.Context, x desk.Decision, draft *desk.Draft) (*desk.Entry, error)
	Outbox() []desk.Entry
	TakeBack(id string) (*desk.Entry, error)
	SendNow(id string) error
	KeepAsDrafts() error
	Busy() (unsent, running int)
	Draft(q desk.Question) *desk.Draft
	SaveDraft(x desk.Draft) error
	Subscribe(ctx context.Context) <-chan []desk.Event
	Reviewer() string
}

// Options are the settings. The zero value but for In and Out works.
type Options struct {
	In       io.Reader
	Out      io.Writer
	Secret   func() (string, error) // reads a line that is not shown; nil: like any other, from In
	ReadOnly bool
	Now      func() time.Time // nil: time.Now
}

// mostListed is how many waiting threads are read out at once, and mostLines how many lines of a text.
const (
	mostListed = 20
	mostLines  = 100
)

// errBack is "back" in the place of an answer: what was begun is left.
var errBack = errors.New("back")

// face is one conversation.
type face struct {
	Options
	ctx   context.Context
	desk  Desk
	in    *bufio.Reader
	told  map[string]desk.EntryState // what was said of each entry
	after string                     // cursor of the list
	err   error                      // of writing
}

// Run asks until the reviewer leaves, the input ends or ctx ends. What is unsent at the end of the input is kept as drafts.
// It does not close d.
func Run(ctx context.Context, d Desk, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	f := &face{Options: o, ctx: ctx, desk: d, in: bufio.NewReader(o.In), told: map[string]desk.EntryState{}}
	f.say("hitl-tui. You are %s. Type help at any question to hear what can be answered.", sanitize.Line(d.Reviewer()))
	err := f.loop()
	if errors.Is(err, io.EOF) {
		err = d.KeepAsDrafts()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(err, f.err)
}

// loop lists and asks what to do, over and over.
func (f *face) loop() error {
	for {
		page, err := f.list()
		if err != nil {
			return err
		}
		word, err := f.ask("Number of a thread, or a command")
		if err != nil {
			return err
		}
		leave, err := f.command(page, strings.ToLower(word))
		switch {
		case errors.Is(err, errBack):
		case err != nil || leave:
			return err
		}
	}
}

// command does what was asked for at the list; true leaves.
func (f *face) command(page desk.Page, word string) (bool, error) {
	switch word {
	case "q", "quit":
		return f.quit()
	case "u", "undo":
		return false, f.takeBack("")
	case "m", "more":
		if f.after = page.Next; f.after == "" {
			f.say("There are no more; this is the first page.")
		}
		return false, nil
	case "", "r", "read":
		f.after = ""
		return false, nil
	case "help", "?":
		f.say("A number opens that thread. r reads the list again. m reads more of it. u takes the newest answer back while that is possible. q leaves.")
		return false, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 || n > len(page.Threads) {
		f.say("%q is neither a command nor a number from 1 to %d. Type help to hear the commands.", sanitize.Line(word), len(page.Threads))
		return false, nil
	}
	return false, f.thread(page.Threads[n-1].ID)
}

// list says what waits, and what became of answers since.
func (f *face) list() (desk.Page, error) {
	f.news()
	page, err := f.desk.Threads(f.ctx, desk.Query{Tab: desk.Waiting, Limit: mostListed, After: f.after})
	if err != nil {
		return page, err
	}
	counts, err := f.desk.Counts(f.ctx)
	if err != nil {
		return page, err
	}
	f.say("")
	f.say("%s.%s", count(int(counts[desk.Waiting]), "thread waits", "threads wait"), failures(counts))
	for i, t := range page.Threads {
		f.say("%d. %s", i+1, f.row(t))
	}
	if page.Next != "" {
		f.say("m reads more.")
	}
	return page, nil
}

func failures(c desk.Counts) string {
	if n := c[desk.Failed]; n > 0 {
		return fmt.Sprintf(" %s; \"hitl-tui threads --status failed\" lists them.", count(int(n), "has failed", "have failed"))
	}
	return ""
}

// row is a thread in one sentence.
func (f *face) row(t desk.Thread) string {
	parts := []string{sanitize.Line(t.Title), sanitize.Line(t.Workflow) + " at " + sanitize.Line(t.Node)}
	if t.Questions > 1 {
		parts = append(parts, fmt.Sprintf("%d questions", t.Questions))
	}
	if !t.Due.IsZero() {
		parts = append(parts, ago.Due(f.Now(), t.Due))
	} else if !t.WaitingSince.IsZero() {
		parts = append(parts, "asked "+ago.Ago(f.Now(), t.WaitingSince))
	}
	if t.Claimed != "" && t.ClaimedUntil.After(f.Now()) {
		parts = append(parts, "claimed by "+sanitize.Line(t.Claimed))
	}
	for _, e := range f.desk.Outbox() {
		if e.Decision.Thread == t.ID && (e.State == desk.Unsent || e.State == desk.Held) {
			whose := "your "
			if rule := byRule(e); rule != "" {
				whose = "rule " + rule + "'s "
			}
			parts = append(parts, whose+e.Decision.Action+" is not sent yet")
		}
	}
	return strings.Join(parts, ", ") + "."
}

// news tells once what became of each answer that was sent.
func (f *face) news() {
	for _, e := range f.desk.Outbox() {
		if f.told[e.ID] == e.State {
			continue
		}
		f.told[e.ID] = e.State
		what := e.Decision.Action + " of " + sanitize.Line(e.Decision.Title)
		switch {
		case byRule(e) != "" && e.State == desk.Unsent:
			f.say("Rule %s: %s, sent in %d seconds. u takes it back.", byRule(e), what, ago.Left(f.Now(), e.SendAt))
		case e.State == desk.Refused:
			f.say("Not taken: %s. %s. What you typed is kept.", what, sanitize.Line(e.Err))
		case e.State == desk.Sent && e.Result != nil && e.Result.ErrMessage != "":
			f.say("%s was sent, and the run failed: %s.", what, sanitize.Line(e.Result.ErrMessage))
		case e.State == desk.Sent && e.Result != nil:
			f.say("%s was sent; the thread is %s.", what, e.Result.Status)
		}
	}
}

// byRule is the rule that gave an answer, "" for a person.
func byRule(e desk.Entry) string {
	if name, is := desk.ByRule(e.Decision.Reviewer); is {
		return sanitize.Line(name)
	}
	return ""
}

// takeBack takes an answer back, "" the newest.
func (f *face) takeBack(id string) error {
	e, err := f.desk.TakeBack(id)
	if err != nil {
		f.say("Nothing was taken back: %s.", sanitize.Line(err.Error()))
		return nil
	}
	f.say("Taken back: %s of %s", e.Decision.Action, sentence(e.Decision.Title))
	return nil
}

// quit leaves, and asks what becomes of that which is on its way.
func (f *face) quit() (bool, error) {
	unsent, running := f.desk.Busy()
	if unsent == 0 && running == 0 {
		return true, nil
	}
	f.say("%s not sent yet, %s still running.", count(unsent, "answer is", "answers are"), count(running, "thread is", "threads are"))
	for {
		word, err := f.ask("w sends and waits until all have come to rest, d keeps answers as drafts and leaves, s stays")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(word) {
		case "w":
			return true, f.rest()
		case "d":
			return true, f.desk.KeepAsDrafts()
		case "s":
			return false, nil
		}
	}
}

// rest sends what is unsent and waits until nothing runs.
func (f *face) rest() error {
	ctx, stop := context.WithCancel(f.ctx)
	defer stop()
	events := f.desk.Subscribe(ctx)
	if err := f.desk.SendNow(""); err != nil {
		return err
	}
	for unsent, running := f.desk.Busy(); unsent+running > 0; unsent, running = f.desk.Busy() {
		if _, ok := <-events; !ok {
			break
		}
	}
	f.news()
	return nil
}

// say writes one line.
func (f *face) say(format string, args ...any) {
	if _, err := fmt.Fprintf(f.Out, format+"\n", args...); err != nil && f.err == nil {
		f.err = err
	}
}

// ask asks for one line.
func (f *face) ask(what string) (string, error) {
	if _, err := fmt.Fprint(f.Out, what+": "); err != nil {
		return "", err
	}
	line, err := f.line()
	return strings.TrimSpace(line), err
}

// line reads a line without its end. Nothing is read ahead of a question that was not asked, so a line belongs to the
// question it answers.
func (f *face) line() (string, error) {
	type read struct {
		text string
		err  error
	}
	came := make(chan read, 1)
	go func() {
		text, err := f.in.ReadString('\n')
		came <- read{text, err}
	}()
	select {
	case <-f.ctx.Done():
		return "", context.Cause(f.ctx)
	case r := <-came:
		if r.err != nil && r.text == "" {
			return "", r.err
		}
		return strings.TrimRight(r.text, "\r\n"), nil
	}
}

// confirmed asks y or n.
func (f *face) confirmed(what string) (bool, error) {
	for {
		word, err := f.ask(what + ", y or n")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(word) {
		case "y", "yes":
			return true, nil
		case "n", "no", "back":
			return false, nil
		}
	}
}

// sentence is a text with a full stop, unless it ends with a mark of its own.
func sentence(text string) string {
	text = sanitize.Line(text)
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// doneWord is an action that was taken.
func doneWord(a actions.Action) string {
	if info, ok := actions.Describe(a); ok {
		return info.Done
	}
	return string(a)
}
