package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// report tells how a run or a resume ended: the envelope with --json, else a few lines. It sets the exit code.
func (a *app) report(result *desk.Result, err error) error { return a.reportOn(nil, result, err) }

// reportAbout is report for a command about a thread: a refusal tells where that stands, unless that is the store's.
func (a *app) reportAbout(ctx context.Context, d *opened, thread string, result *desk.Result, err error) error {
	if err == nil || !a.flags.json || thread == "" || desk.Code(err) == desk.CodeStoreUnavailable {
		return a.report(result, err)
	}
	// Where the thread cannot be read, the refusal alone is told: it says why.
	stands, _ := d.Open(context.WithoutCancel(ctx), thread)
	return a.reportOn(stands, result, err)
}

func (a *app) reportOn(stands *desk.Detail, result *desk.Result, err error) error {
	if a.flags.json {
		envelope := wire.FromError(err, stands)
		if err == nil {
			envelope = wire.FromResult(result)
		}
		if e := a.printJSON(envelope); e != nil {
			return e
		}
		if err != nil {
			return &shownError{desk.Code(err)}
		}
	}
	if err != nil {
		return err
	}
	if !a.flags.json {
		a.printResult(result)
	}
	envelope := wire.FromResult(result)
	if envelope.Error != nil && envelope.Error.Code == desk.CodeCancelled {
		return &shownError{desk.CodeCancelled}
	}
	if exit := envelope.ExitCode(a.distinct()); exit != desk.ExitOK {
		return &exitError{exit}
	}
	return nil
}

// distinct reports whether a waiting thread and one that a person ended have exit codes of their own.
func (a *app) distinct() bool {
	on := a.getenv("HITL_TUI_EXIT_CODE")
	return a.flags.exitCode || on != "" && on != "0"
}

func (a *app) printResult(r *desk.Result) {
	if r.AlreadyApplied {
		a.say("this answer was given before; nothing was done again")
	}
	for _, warning := range r.Warnings {
		a.say("warning: %s", sanitize.Line(warning))
	}
	name := fmt.Sprintf("%s %s", sanitize.Line(r.Workflow), sanitize.Line(r.Thread))
	switch {
	case r.WasCancelled && r.Withdrawn:
		a.say("%s: cancelled before anything was done; the question is open again", name)
	case r.WasCancelled:
		a.say("%s: cancelled after step %d", name, r.Step)
	}
	failure := fmt.Sprintf("%s failed at %s: %s", name, sanitize.Line(r.ErrNode), sanitize.Text(r.ErrMessage))
	switch {
	case r.Interrupted:
		for _, q := range r.Questions {
			a.printQuestion(q)
		}
		if r.ErrMessage != "" {
			fmt.Fprintln(a.out, failure)
		}
	case r.Status == "failed":
		fmt.Fprintln(a.out, failure)
	case r.Status == "stalled" && r.ErrMessage != "":
		fmt.Fprintf(a.out, "%s stalled at step %d: %s\n", name, r.Step, sanitize.Text(r.ErrMessage))
	case r.Status == "stalled":
		fmt.Fprintf(a.out, "%s stalled at step %d\n", name, r.Step)
	case r.Status == "sleeping":
		fmt.Fprintf(a.out, "%s sleeps until its timer is due\n", name)
	default:
		fmt.Fprintf(a.out, "%s %s\n", name, r.Status)
		a.printOutputs(r.Outputs)
	}
	a.sayNext(r.Thread, r.Status, r.Questions)
}

// printQuestion tells what is asked and how it can be answered.
func (a *app) printQuestion(q desk.Question) {
	fmt.Fprintf(a.out, "%s %s waits at %s: %s\n", sanitize.Line(q.Workflow), sanitize.Line(q.Thread), sanitize.Line(q.Address), sanitize.Line(q.Title))
	var ways []string
	for _, choice := range q.Permitted() {
		ways = append(ways, fmt.Sprintf("%s > %s", choice.Action, sanitize.Line(choice.Leads)))
	}
	fmt.Fprintf(a.out, "  %s\n", strings.Join(ways, "   "))
}

// printOutputs shows the result of a finished run.
func (a *app) printOutputs(outputs json.RawMessage) {
	var object map[string]json.RawMessage
	if json.Unmarshal(outputs, &object) != nil || len(object) == 0 {
		return
	}
	for _, key := range sortedKeys(object) {
		var text string
		if json.Unmarshal(object[key], &text) != nil {
			text = string(object[key])
		}
		text = strings.TrimRight(sanitize.Text(text), "\n")
		if strings.Contains(text, "\n") {
			text = "\n    " + strings.ReplaceAll(text, "\n", "\n    ")
		}
		fmt.Fprintf(a.out, "  %s: %s\n", sanitize.Line(key), text)
	}
}
