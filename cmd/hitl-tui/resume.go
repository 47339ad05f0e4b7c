package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// resumeFlags are the flags of resume.
type resumeFlags struct {
	data      string
	dataFile  string
	pairs     []string
	interrupt string
	answers   string
	version   string
	response  string
	check     bool
	upgrade   bool
	steal     bool
	carryOn   bool
	wait      string
}

func (a *app) resumeCommand() *cobra.Command {
	var f resumeFlags
	cmd := a.command("resume THREAD|TOKEN [ACTION]", "Answer a question and run the thread on",
		`Answers the open question of a thread and runs it on until it ends or waits again. A thread is named by its id or
any unique ending of four characters or more; a response token is a JSON object with thread_id, response_action and
response_data, and "-" reads one from standard input. Without an action the answer is "continue": to a question that
allows it; it ends the wait of a sleeping thread, and carries a stalled or failed thread on.

With --carry-on nothing is answered: what stalled or failed runs again, also beside open questions and timers, which stay.
While another process runs the thread an answer is refused, unless --wait waits for it to rest; so it does for about 15 s
after that process was killed.

A question is named by its id or its address, as questions and show print it, with --interrupt and as interrupt_id in
--answers: slashes stand between the workflows and map items around it, a dot before its key where its node asks several,
as in triage/2/decide.amount.

On a terminal the nodes that run, what programs and models say, and failed attempts are shown on standard error.

The actions are `+actionList()+`.`,
		`hitl-tui resume 7f3k approve
hitl-tui resume 7f3k reject -d '"The second item names the customer"'
hitl-tui resume 7f3k edit -f notes.json
hitl-tui resume 7f3k --carry-on --upgrade
hitl-tui resume 7f3k --interrupt agent.b approve --wait=1m
hitl-tui resume 7f3k submit -F paid=90.5 -F note="used price"
hitl-tui resume '{"thread_id":"0197...","response_action":"approve"}'`,
		cobra.RangeArgs(1, 2), nil)
	flags := cmd.Flags()
	flags.StringVarP(&f.data, "data", "d", "", "response data as JSON")
	flags.StringVarP(&f.dataFile, "data-file", "f", "", "file with the response data as JSON, - for standard input")
	flags.StringArrayVarP(&f.pairs, "field", "F", nil, "one field of the data, KEY=VALUE; may be given often")
	flags.StringVar(&f.interrupt, "interrupt", "", "id or address of the question, where several are open")
	flags.StringVar(&f.answers, "answers", "", "file, - for standard input, with a list of answers {interrupt_id (or address), action, data, response_id}, all or none")
	flags.StringVar(&f.version, "if-version", "", "answer only if the thread is still at STEP or STEP.REVISION")
	flags.StringVar(&f.response, "response-id", "", "makes a repeat of this very answer harmless")
	flags.BoolVar(&f.check, "check", false, "validate only, change nothing")
	flags.BoolVar(&f.upgrade, "upgrade", false, "carry on with the workflow file as it is now")
	flags.BoolVar(&f.steal, "steal", false, "answer although somebody else has claimed the thread")
	flags.BoolVar(&f.carryOn, "carry-on", false, "run again what stalled or failed, and answer nothing")
	flags.StringVar(&f.wait, "wait", "", "wait while another process runs the thread, at most so long: 30s, 5m")
	flags.Lookup("wait").NoOptDefVal = waitForEver
	cmd.MarkFlagsMutuallyExclusive("data", "data-file", "answers", "carry-on")
	for _, answers := range []string{"field", "interrupt", "response-id"} {
		cmd.MarkFlagsMutuallyExclusive(answers, "carry-on")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.resume(cmd, args, f) }
	return cmd
}

func (a *app) cancelCommand() *cobra.Command {
	return a.command("cancel THREAD", "Cancel the run in progress", `Asks whoever runs a thread, here or in another process, to stop, as x does at the desk. If nothing was committed
since its last answer the question is open again as it was; else the thread stays at its last step, and resume carries it on.`,
		"hitl-tui cancel 7f3k", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			d, err := a.open(cmd.Context(), openExisting)
			if err != nil {
				return err
			}
			defer d.close()
			detail, err := d.Open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := d.CancelRun(cmd.Context(), detail.ID); err != nil {
				return err
			}
			if a.flags.json {
				return a.printJSON(wire.Asked{ThreadID: detail.ID, Asked: true})
			}
			a.say("asked to stop; it is heard within a few seconds")
			return nil
		})
}

func (a *app) resume(cmd *cobra.Command, args []string, f resumeFlags) error {
	request, err := a.answers(cmd, args, f)
	if err != nil {
		return a.report(nil, err)
	}
	if request.Wait, err = waitOf(f.wait); err != nil {
		return a.report(nil, err)
	}
	d, err := a.open(cmd.Context(), openExisting)
	if err != nil {
		return a.report(nil, err)
	}
	defer d.close()
	if f.check {
		if _, err := d.AnswerWith(cmd.Context(), request, true); err != nil {
			return a.reportAbout(cmd.Context(), d, request.Thread, nil, err)
		}
		if n := len(request.Decisions); n > 1 {
			a.say("these %d answers would be accepted", n)
		} else {
			a.say("this answer would be accepted")
		}
		if a.flags.json {
			return a.printJSON(wire.Accepted{Accepted: true})
		}
		return nil
	}
	request.Progress = a.progress()
	result, err := d.AnswerWith(cmd.Context(), request, false)
	return a.reportAbout(cmd.Context(), d, request.Thread, result, err)
}

// waitForEver is --wait without a duration.
const waitForEver = "ever"

func waitOf(text string) (time.Duration, error) {
	switch text {
	case "":
		return 0, nil
	case waitForEver:
		return math.MaxInt64, nil
	}
	span, err := desk.ParseSpan(text)
	if err != nil {
		return 0, &desk.Error{Code: desk.CodeUsage, Message: "--wait: " + err.Error(), Err: err}
	}
	return span, nil
}

// answers reads the command line into one request: a token, a thread with an action, or a file of answers.
func (a *app) answers(cmd *cobra.Command, args []string, f resumeFlags) (desk.AnswerRequest, error) {
	var none desk.AnswerRequest
	text := args[0]
	if text == "-" {
		raw, err := a.read("-", 8*actions.MaxSize)
		if err != nil {
			return none, err
		}
		text = strings.TrimRight(string(raw), "\r\n")
	}
	token, err := actions.ParseToken([]byte(text))
	if err != nil {
		return none, err
	}
	isObject := strings.HasPrefix(text, "{")
	request := desk.AnswerRequest{Thread: token.ThreadID, Version: token.IfVersion, Reviewer: token.Reviewer, Steal: f.steal, Upgrade: f.upgrade}
	if f.version != "" {
		request.Version = f.version
	}
	if a.flags.reviewer != "" {
		request.Reviewer = a.flags.reviewer
	}
	if f.carryOn {
		if len(args) > 1 || isObject && token.Action != "" {
			return none, &desk.Error{Code: desk.CodeUsage, Message: "--carry-on answers nothing; give no action with it"}
		}
		request.CarryOn = true
		return request, nil
	}
	if f.answers != "" {
		if len(args) > 1 || isObject && token.Action != "" {
			return none, &desk.Error{Code: desk.CodeUsage, Message: "--answers holds the actions; give no other"}
		}
		request.Decisions, err = a.answerFile(f.answers, token.ThreadID)
		return request, err
	}
	data, err := a.response(f.data, cmd.Flags().Changed("data"), f.dataFile, f.pairs)
	if err != nil {
		return none, missingFile(f.dataFile, err)
	}
	decision := desk.Decision{
		Thread: token.ThreadID, Question: token.InterruptID, Action: string(token.Action), Data: token.Data,
		ResponseID: token.ResponseID, Reviewer: request.Reviewer, Version: request.Version, Steal: f.steal,
	}
	if !isObject {
		decision.Action = ""
	}
	if err := override(&decision, args[1:], data, f, isObject); err != nil {
		return none, err
	}
	request.Decisions = []desk.Decision{decision}
	return request, nil
}

// override adds what stands beside the token on the command line, and refuses what the token already says.
func override(d *desk.Decision, rest []string, data json.RawMessage, f resumeFlags, isObject bool) error {
	twice := func(what string) error {
		return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("the token already gives %s", what), Remedy: "give it once"}
	}
	if len(rest) > 0 {
		if isObject {
			return twice("the action")
		}
		d.Action = rest[0]
	}
	if data != nil {
		if d.Data != nil {
			return twice("the data")
		}
		d.Data = data
	}
	if f.interrupt != "" {
		if d.Question != "" {
			return twice("the question")
		}
		d.Question = f.interrupt
	}
	if f.response != "" {
		d.ResponseID = f.response
	}
	return nil
}

// answer is one entry of an --answers file.
type answer struct {
	Interrupt  string          `json:"interrupt_id"`
	Action     string          `json:"action"`
	Data       json.RawMessage `json:"data"`
	ResponseID string          `json:"response_id"`
}

func (a *app) answerFile(name, thread string) ([]desk.Decision, error) {
	raw, err := a.readJSON(name, 16*actions.MaxSize)
	if err != nil {
		return nil, missingFile(name, err)
	}
	var list []answer
	if err := strictJSON(raw, &list); err != nil {
		return nil, invalidf("%s must be a list of {interrupt_id, action, data, response_id}: %v", name, err)
	}
	if len(list) == 0 {
		return nil, invalidf("%s holds no answer", name)
	}
	decisions := make([]desk.Decision, len(list))
	for i, one := range list {
		decisions[i] = desk.Decision{Thread: thread, Question: one.Interrupt, Action: one.Action, Data: one.Data, ResponseID: one.ResponseID}
	}
	return decisions, nil
}

func actionList() string {
	var names []string
	for _, action := range actions.All() {
		names = append(names, string(action))
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func strictJSON(raw json.RawMessage, into any) error {
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s", jsonFault(raw, err))
	}
	return nil
}
