package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/path"
)

func (a *app) eventsCommand() *cobra.Command {
	var follow bool
	var limit int
	cmd := a.command("events [THREAD]", "Tell what happened, and what happens",
		`Tells what happened lately in one thread or in all, oldest first: each step that was written and each decision. With --follow
it tells what happens from now on, whoever does it, until Ctrl-C or until nobody reads it any more; --limit says how many
events from before come first. With --json each event is one line of JSON, as in the data of GET /v1/events.

Of what other processes do a change of a thread is told with the status and step it then has. Changes of one thread that
follow closely are told once, as the thread then is; the first line, which names no thread, says that from here on none is
missed.`,
		`hitl-tui events
hitl-tui events 7f3k --json
hitl-tui events --follow
hitl-tui events --follow --json | jq 'select(.status == "interrupted") | .thread_id'`, cobra.MaximumNArgs(1), nil)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "tell what happens from now on")
	cmd.Flags().IntVar(&limit, "limit", 50, "events from before, the latest; with --follow none")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if limit < 1 || limit > 10000 {
			return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("--limit %d is not between 1 and 10000", limit)}
		}
		why := openRead
		if follow {
			why = openStored
		}
		d, err := a.open(cmd.Context(), why)
		if err != nil {
			return err
		}
		defer d.close()
		t := &teller{app: a, met: map[string]bool{}}
		if len(args) > 0 {
			detail, err := d.Open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			t.thread = detail.ID
		}
		if !follow {
			return t.timeline(cmd.Context(), d, limit)
		}
		if !cmd.Flags().Changed("limit") {
			limit = 0
		}
		return t.follow(cmd.Context(), d, limit)
	}
	return cmd
}

// teller writes events, a line each.
type teller struct {
	*app
	thread string   // the only one of interest, "" all
	seen   []string // threads, whose names are told apart
	met    map[string]bool
	short  map[string]string
}

func (t *teller) timeline(ctx context.Context, d *opened, limit int) error {
	events, err := d.Timeline(ctx, t.thread, limit)
	if e := t.tellBatch(events); e != nil {
		return e
	}
	if len(events) == 0 && err == nil {
		t.say("nothing has happened yet")
	}
	return err
}

// follow tells what happens until the context ends, or nobody reads it any more.
func (t *teller) follow(ctx context.Context, d *opened, before int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if out, is := t.wrote.Writer.(*os.File); is {
		defer whenUnread(out, stop)()
	}
	// Before what was: nothing is to happen between the two.
	live := d.Subscribe(ctx)
	if before > 0 {
		if err := t.timeline(ctx, d, before); err != nil {
			return t.unread(err)
		}
	}
	t.say("watching %s; Ctrl-C ends it", withoutPassword(t.store))
	for batch := range live {
		if err := t.tellBatch(batch); err != nil {
			return t.unread(err)
		}
	}
	var caught *signalError
	if errors.As(context.Cause(ctx), &caught) {
		return &shownError{desk.CodeCancelled}
	}
	if ctx.Err() == nil {
		return fmt.Errorf("the store is no longer watched: %w", desk.ErrClosed)
	}
	return nil
}

// unread is no error where it only says that nobody reads any more: whoever closed the pipe has what they wanted.
func (t *teller) unread(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// tellBatch writes events in one go.
func (t *teller) tellBatch(events []desk.Event) error {
	t.meet(events)
	var b bytes.Buffer
	for _, e := range events {
		if t.thread != "" && e.Thread != "" && e.Thread != t.thread || e.Kind == desk.OutboxChanged {
			continue
		}
		if t.flags.json {
			encoder := json.NewEncoder(&b)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(wire.FromEvent(e)); err != nil {
				return err
			}
			continue
		}
		for _, line := range happened(e) {
			fmt.Fprintln(&b, t.line(e, line))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := t.out.Write(escapeActing(b.Bytes()))
	return err
}

// meet notes the threads of events, so that the short name of each is no other's.
func (t *teller) meet(events []desk.Event) {
	if t.flags.json || t.thread != "" { // no names are written
		return
	}
	before := len(t.seen)
	for _, e := range events {
		if e.Thread != "" && !t.met[e.Thread] {
			t.seen, t.met[e.Thread] = append(t.seen, e.Thread), true
		}
	}
	if len(t.seen) > before {
		t.short = desk.ShortNames(t.seen)
	}
}

// line is one line of an event, cut where a terminal ends.
func (t *teller) line(e desk.Event, text string) string {
	line := e.At.Local().Format(time.DateTime)
	if t.thread == "" && e.Thread != "" {
		line += "  " + sanitize.Line(t.short[e.Thread])
	}
	line += "  " + sanitize.Line(text)
	if t.width > 0 {
		line = ansi.Truncate(line, t.width, "…")
	}
	return line
}

// happened is what an event says, none for one that says nothing to a person.
func happened(e desk.Event) []string {
	switch e.Kind {
	case desk.StepCommitted:
		text := fmt.Sprintf("step %d %s", e.Step, e.Status)
		if len(e.Nodes) > 0 {
			text += ": " + strings.ReplaceAll(strings.Join(path.Names(e.Nodes), ", ")+",", "@1,", ",")
			text = strings.TrimSuffix(text, ",")
		} else if e.Source != "" {
			text += " (" + e.Source + ")"
		}
		if e.Text != "" {
			text += ": " + firstLine(e.Text)
		}
		return []string{text}
	case desk.Decided:
		text := e.Reviewer + ": " + e.Action
		if e.Address != "" {
			text += " at " + e.Address
		}
		if e.Text != "" {
			text += ": " + firstLine(e.Text)
		}
		return []string{text}
	case desk.StoreChanged:
		return changed(e)
	case desk.Progress:
		lines := told(e)
		for i, line := range lines {
			lines[i] = strings.TrimSuffix(e.Run, "@1") + line
		}
		return lines
	default:
		return []string{strings.TrimRight(strings.ReplaceAll(string(e.Kind), "_", " ")+": "+firstLine(e.Text), ": ")}
	}
}

func changed(e desk.Event) []string {
	switch {
	case e.Thread == "":
		return nil
	case e.Status == "deleted":
		return []string{"deleted"}
	case e.Node != "":
		return []string{fmt.Sprintf("step %d %s at %s", e.Step, e.Status, e.Node)}
	default:
		return []string{fmt.Sprintf("step %d %s", e.Step, e.Status)}
	}
}
