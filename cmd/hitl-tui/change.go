package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

func (a *app) forkCommand() *cobra.Command {
	var f desk.ForkRequest
	var carryOn bool
	cmd := a.command("fork THREAD --step N", "Start a new thread from an earlier step",
		`Starts a new thread whose first step is a copy of step N of another one; that one stays as it is. Questions that were
open then are open in the new thread, and deadlines and timers start anew, but for a deadline that an agent named by the
clock. Nothing is run, so that patch can change the state first; with --carry-on the new thread runs on at once.`,
		`hitl-tui fork 7f3k --step 4
hitl-tui fork 7f3k --step 4 --thread again --carry-on`, cobra.ExactArgs(1), nil)
	cmd.Flags().Int64Var(&f.Step, "step", 0, "the step to start from; `hitl-tui history` lists them")
	cmd.Flags().StringVar(&f.As, "thread", "", "id of the new thread; a fresh one")
	cmd.Flags().BoolVar(&carryOn, "carry-on", false, "run the new thread on")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("step") {
			return a.report(nil, &desk.Error{Code: desk.CodeUsage, Message: "fork needs --step", Remedy: "`hitl-tui history` lists the steps"})
		}
		if f.Step < 0 {
			return a.report(nil, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("--step %d is no step", f.Step), Remedy: "give 0 or more"})
		}
		f.Thread = args[0]
		d, err := a.open(cmd.Context(), openExisting)
		if err != nil {
			return a.report(nil, err)
		}
		defer d.close()
		result, err := d.ForkOnly(cmd.Context(), f)
		if err != nil {
			return a.reportAbout(cmd.Context(), d, f.Thread, nil, err)
		}
		if !carryOn || result.Status != "stalled" {
			return a.reportWritten(result)
		}
		result, err = d.AnswerWith(cmd.Context(), desk.AnswerRequest{Thread: result.Thread, Progress: a.progress()}, false)
		return a.report(result, err)
	}
	return cmd
}

func (a *app) patchCommand() *cobra.Command {
	var c desk.Change
	var data, file string
	var pairs []string
	cmd := a.command("patch THREAD -d JSON", "Change the state of a thread",
		`Writes keys of the state as a step of their own: the open questions stay open and show what changed, and the record
of decisions says who changed what. With --frame it is the state of a nested workflow or of a map item, named by the
address before its questions: triage/2 of triage/2/decide.`,
		`hitl-tui patch 7f3k -d '{"notes": "Second draft"}'
hitl-tui patch 7f3k -f notes.json --if-version 4.1
hitl-tui patch 7f3k --frame triage/2 -d '{"amount": 90.5}'`, cobra.ExactArgs(1), nil)
	flags := cmd.Flags()
	flags.StringVarP(&data, "data", "d", "", "keys to set, as a JSON object")
	flags.StringVarP(&file, "data-file", "f", "", "file with that object, - for standard input")
	flags.StringArrayVarP(&pairs, "field", "F", nil, "one key to set to a text, KEY=VALUE; may be given often")
	flags.StringVar(&c.Frame, "frame", "", "the nested workflow or map item whose state it is; the thread's own")
	flags.StringVar(&c.Version, "if-version", "", "only if the thread is still at STEP or STEP.REVISION")
	flags.BoolVar(&c.Steal, "steal", false, "although somebody else has claimed the thread")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.Thread = args[0]
		raw, err := a.patchData(data, cmd.Flags().Changed("data"), file, pairs)
		if err != nil {
			return a.report(nil, missingFile(file, err))
		}
		if c.Updates, err = updatesOf(raw); err != nil {
			return a.report(nil, err)
		}
		d, err := a.open(cmd.Context(), openExisting)
		if err != nil {
			return a.report(nil, err)
		}
		defer d.close()
		result, err := d.Patch(cmd.Context(), c)
		if err != nil {
			return a.reportAbout(cmd.Context(), d, c.Thread, nil, err)
		}
		return a.reportWritten(result)
	}
	return cmd
}

// patchData is what a patch sets. Unlike a response it may be as large as a state: it is the way for content that is
// too large to be edited in an answer.
func (a *app) patchData(data string, dataSet bool, file string, pairs []string) (json.RawMessage, error) {
	if file != "" && !dataSet && len(pairs) == 0 {
		return a.readJSON(file, inputLimit)
	}
	return a.response(data, dataSet, file, pairs)
}

// updatesOf reads an object of state keys.
func updatesOf(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var updates map[string]json.RawMessage
	switch {
	case raw == nil:
		return nil, &desk.Error{Code: desk.CodeUsage, Message: "patch needs what to set", Remedy: "give -d, -f or -F"}
	case json.Unmarshal(raw, &updates) != nil || updates == nil:
		return nil, invalidf("a patch is a JSON object of state keys, not %.40s", raw)
	}
	return updates, nil
}

// reportWritten reports a command that writes a step and runs nothing: a thread that could run on is no failure then.
func (a *app) reportWritten(result *desk.Result) error {
	if result.Status != "stalled" {
		return a.report(result, nil)
	}
	if !a.flags.json {
		fmt.Fprintf(a.out, "%s %s stands at step %d\n", sanitize.Line(result.Workflow), sanitize.Line(result.Thread), result.Step)
		a.say("`%s` runs it on", a.line("resume", result.Thread))
		return nil
	}
	envelope := wire.FromResult(result)
	envelope.Success, envelope.Error = true, nil
	return a.printJSON(envelope)
}
