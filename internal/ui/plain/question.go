package plain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
)

// thread goes through the open questions of a thread.
func (f *face) thread(id string) error {
	detail, err := f.desk.Open(f.ctx, id)
	if err != nil {
		f.say("The thread cannot be read: %s.", sanitize.Line(err.Error()))
		return nil
	}
	if len(detail.Questions) == 0 {
		f.say("Nothing is asked there any more; the thread is %s.", detail.Status)
	}
	for i, q := range detail.Questions {
		if n := len(detail.Questions); n > 1 {
			f.say("Question %d of %d.", i+1, n)
		}
		if err := f.question(detail, q); err != nil {
			return err
		}
	}
	return nil
}

// question reads a question out and asks what to do with it.
func (f *face) question(detail *desk.Detail, q desk.Question) error {
	if err := f.read(q); err != nil {
		return err
	}
	if f.ReadOnly {
		f.say("Read-only: nothing can be decided here.")
		return nil
	}
	steal := false
	if c := detail.Claimed; c != "" && c != f.desk.Reviewer() && detail.ClaimedUntil.After(f.Now()) {
		var err error
		if steal, err = f.confirmed(sanitize.Line(c) + " has claimed this. Decide it all the same"); err != nil || !steal {
			return err
		}
	}
	if len(q.Parts) > 0 {
		return f.parts(q, steal)
	}
	for {
		choice, err := f.choose(q)
		if err != nil {
			return err
		}
		if done, err := f.answer(q, choice, steal); done || err != nil {
			return err
		}
	}
}

// read reads a question out.
func (f *face) read(q desk.Question) error {
	f.say("")
	f.say("%s", sanitize.Line(q.Title))
	f.say("Asked %s by %s.", ago.Ago(f.Now(), q.Asked), sanitize.Line(q.Workflow+" "+q.Address))
	if !q.Due.IsZero() {
		f.say("Deadline: %s.", ago.Due(f.Now(), q.Due))
	}
	if q.Round > 1 {
		f.say("Round %d. Before, %s said: %s", q.Round, sanitize.Line(q.FeedbackBy), sanitize.Line(q.Feedback))
	}
	if q.Message != "" && q.Message != q.Title {
		if err := f.long(q.Message); err != nil {
			return err
		}
	}
	for _, c := range q.Context {
		f.say("%s: %s", sanitize.Line(c.Label), content.Short(c.Value))
	}
	if len(q.Content) > 0 && string(q.Content) != "null" {
		f.say("Under review, %s:", ago.Bytes(int64(len(q.Content))))
		return f.long(content.Of(q.Content, q.ContentType).Text())
	}
	return nil
}

// long reads a text out, and asks before each further part of a long one.
func (f *face) long(text string) error {
	lines := strings.Split(sanitize.Text(strings.TrimRight(text, "\n")), "\n")
	for len(lines) > mostLines {
		for _, l := range lines[:mostLines] {
			f.say("%s", l)
		}
		lines = lines[mostLines:]
		more, err := f.confirmed(fmt.Sprintf("%s follow. Read on", count(len(lines), "line", "lines")))
		if err != nil || !more {
			return err
		}
	}
	for _, l := range lines {
		f.say("%s", l)
	}
	return nil
}

// choose asks for an action by number or name.
func (f *face) choose(q desk.Question) (desk.Choice, error) {
	permitted := q.Permitted()
	f.say("You can:")
	for i, c := range permitted {
		text := fmt.Sprintf("%d. %s", i+1, c.Action)
		if c.Leads != "" {
			text += ", leads to " + sanitize.Line(c.Leads)
		}
		f.say("%s.", text)
	}
	for {
		word, err := f.ask("Number or name of an action, why for what is not allowed, back for the list")
		if err != nil {
			return desk.Choice{}, err
		}
		switch word = strings.ToLower(word); word {
		case "back", "b", "":
			return desk.Choice{}, errBack
		case "why", "help", "?":
			f.whyNot(q)
			continue
		}
		if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(permitted) {
			return permitted[n-1], nil
		}
		if i := slices.IndexFunc(permitted, func(c desk.Choice) bool { return strings.EqualFold(string(c.Action), word) }); i >= 0 {
			return permitted[i], nil
		}
		f.say("%q is none of them.", sanitize.Line(word))
	}
}

func (f *face) whyNot(q desk.Question) {
	for _, c := range q.Choices {
		if !c.Allowed {
			why := c.Why
			if why == "" {
				why = "not allowed here"
			}
			f.say("%s: %s.", c.Action, sanitize.Line(why))
		}
	}
}

// answer takes what an action needs, asks for a yes and hands it to the desk. It is done once the desk has it.
func (f *face) answer(q desk.Question, c desk.Choice, steal bool) (bool, error) {
	data, typed, err := f.data(q, c)
	if err == nil {
		var yes bool
		if yes, err = f.confirmed(f.summary(q, c)); err == nil && yes {
			return f.give(q, c, data, typed, steal)
		}
	}
	return false, f.keep(q, c, typed, err)
}

// summary is what a yes would do.
func (f *face) summary(q desk.Question, c desk.Choice) string {
	text := fmt.Sprintf("%s: %s", c.Action, sanitize.Line(q.Title))
	if c.Leads != "" {
		text += ", leads to " + sanitize.Line(c.Leads)
	}
	return text
}

// keep keeps what was typed for an answer that was not given, and gives err back.
func (f *face) keep(q desk.Question, c desk.Choice, typed string, err error) error {
	if typed == "" || q.Of != nil || q.IsSecret() {
		return err
	}
	x := desk.NewDraft(q)
	x.Action, x.Text, x.Saved = string(c.Action), typed, f.Now()
	if bad := f.desk.SaveDraft(x); bad != nil {
		return errors.Join(err, bad)
	}
	f.say("What you typed is kept as a draft.")
	return err
}

// give hands an answer to the desk and says until when it can be taken back.
func (f *face) give(q desk.Question, c desk.Choice, data json.RawMessage, typed string, steal bool) (bool, error) {
	x := desk.Decision{Thread: q.Thread, Question: q.ID, Action: string(c.Action), Data: data, Version: q.Version, Shown: q.ShownHash, Title: q.Name(),
		Steal: steal, DecidedAt: f.Now()}
	draft := desk.NewDraft(q)
	draft.Action, draft.Text = string(c.Action), typed
	e, err := f.desk.Respond(f.ctx, x, &draft)
	if err != nil {
		f.say("Not taken: %s.", sanitize.Line(err.Error()))
		return false, f.keep(q, c, typed, nil)
	}
	f.told[e.ID] = e.State
	when := fmt.Sprintf("It is sent in %d seconds", ago.Left(f.Now(), e.SendAt))
	if e.State == desk.Held {
		when = "It is sent once its thread rests"
	}
	word, err := f.ask(fmt.Sprintf("%s: %s %s. u takes it back, Enter goes on", doneWord(c.Action), sentence(q.Title), when))
	if err != nil && !errors.Is(err, io.EOF) {
		return true, err
	}
	if strings.EqualFold(word, "u") {
		return true, f.takeBack(e.ID)
	}
	return true, err
}

// parts asks for a verdict on each part, and sends all as one answer.
func (f *face) parts(whole desk.Question, steal bool) error {
	verdicts := map[string]actions.Verdict{}
	for i := range whole.Parts {
		part := whole.PartAt(i + 1)
		f.say("Part %d of %d.", i+1, len(whole.Parts))
		if err := f.read(part); err != nil {
			return err
		}
		for verdicts[actions.PartKey(i)].Decision == "" {
			c, err := f.choose(part)
			if err != nil {
				return err
			}
			if !slices.Contains(actions.Allowed(part.Question), c.Action) { // it is about all parts
				if done, err := f.answer(whole, c, steal); done || err != nil {
					return err
				}
				continue
			}
			data, _, err := f.data(part, c)
			if err != nil {
				return err
			}
			answer, err := actions.Validate(part.Whole().Question, c.Action, data)
			if err != nil {
				f.say("Not taken: %s.", sanitize.Line(err.Error()))
				continue
			}
			verdicts[actions.PartKey(i)] = actions.VerdictOf(answer)
		}
	}
	data, err := json.Marshal(verdicts)
	if err != nil {
		return err
	}
	for i := range whole.Parts {
		f.say("Part %d: %s.", i+1, verdicts[actions.PartKey(i)].Decision)
	}
	submit := slices.IndexFunc(whole.Choices, func(c desk.Choice) bool { return c.Action == actions.Submit })
	if submit < 0 {
		return fmt.Errorf("%s: a question with parts has no way to answer them", whole.ID)
	}
	yes, err := f.confirmed(fmt.Sprintf("Send these %d verdicts", len(verdicts)))
	if err != nil || !yes {
		return err
	}
	_, err = f.give(whole, whole.Choices[submit], data, "", steal)
	return err
}
