package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/path"
)

func (a *app) showCommand() *cobra.Command {
	step, drawn := int64(-1), false
	cmd := a.command("show THREAD", "Show a thread: its question, its state, its way", "Shows where a thread stands, what it asks and its state, at the head or at an earlier step. With --graph it draws the workflow that the thread keeps, the way the thread took through it, and where it waits.",
		"hitl-tui show 7f3k\nhitl-tui show 7f3k --step 2 --json\nhitl-tui show 7f3k --graph", cobra.ExactArgs(1), nil)
	cmd.Flags().Int64Var(&step, "step", -1, "the state at this step; the head")
	cmd.Flags().BoolVar(&drawn, "graph", false, "draw the workflow with the way taken: ✓ done, ● waits, ○ next, ✗ failed, ⊘ ended, · not reached; heavy lines were taken")
	cmd.MarkFlagsMutuallyExclusive("step", "graph")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("step") && step < 0 {
			return &desk.Error{Code: desk.CodeUsage, Message: "--step must be 0 or more"}
		}
		d, err := a.open(cmd.Context(), openRead)
		if err != nil {
			return err
		}
		defer d.close()
		if drawn {
			return a.showGraph(cmd.Context(), d, args[0])
		}
		detail, err := d.Open(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		state, err := d.StateAt(cmd.Context(), detail.ID, step)
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.printJSON(wire.FromState(detail, state))
		}
		a.printDetail(detail, state, step >= 0)
		return nil
	}
	return cmd
}

func (a *app) printDetail(t *desk.Detail, s *desk.State, past bool) {
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(a.out, "%-10s %s\n", label, sanitize.Line(value))
		}
	}
	line("thread", t.ID)
	line("workflow", t.Workflow)
	line("status", t.Status)
	line("step", fmt.Sprintf("%d.%d", s.Step, s.Revision))
	line("started", fmt.Sprintf("%s by %s in %s", t.Created.Local().Format(time.DateTime), t.StartedBy, t.Workdir))
	line("origin", t.Origin)
	line("next", strings.Join(s.Next, ", "))
	line("claimed", t.Claimed)
	line("failed at", t.FailedNode)
	line("error", t.Failure)
	for _, q := range questionsAt(t, s, past) {
		fmt.Fprintln(a.out)
		a.printQuestion(q)
		if q.Message != "" {
			fmt.Fprintf(a.out, "\n%s\n", indent(sanitize.Text(q.Message)))
		}
		if len(q.Content) > 0 {
			fmt.Fprintf(a.out, "\n%s\n", indent(sanitize.Text(readable(q.Content))))
		}
		a.printWays(q)
	}
	if !past {
		a.sayNext(t.ID, t.Status, nil)
	}
	if len(t.Outputs) > 0 && s.Step == t.Step {
		fmt.Fprintln(a.out, "\noutputs")
		a.printOutputs(t.Outputs)
	}
	if len(s.State) == 0 {
		return
	}
	fmt.Fprintln(a.out, "\nstate")
	for _, key := range sortedKeys(s.State) {
		fmt.Fprintf(a.out, "  %s: %s\n", sanitize.Line(key), sanitize.Line(string(s.State[key])))
	}
}

// printWays shows what an answer can be: the options to choose from, and the schema of a form.
func (a *app) printWays(q desk.Question) {
	if len(q.Options) > 0 {
		fmt.Fprintln(a.out)
	}
	for i, o := range q.Options {
		line := fmt.Sprintf("%d  %s", i+1, readable(o.Value))
		if o.Label != "" && o.Label != readable(o.Value) {
			line += "  " + o.Label
		}
		if o.Description != "" {
			line += "  (" + o.Description + ")"
		}
		fmt.Fprintln(a.out, indent(sanitize.Line(line)))
	}
	if len(q.Schema) > 0 {
		fmt.Fprintf(a.out, "\n    the answer must fit %s\n", sanitize.Line(string(q.Schema)))
	}
}

func questionsAt(t *desk.Detail, s *desk.State, past bool) []desk.Question {
	if past {
		return s.Questions
	}
	return t.Questions
}

func (a *app) historyCommand() *cobra.Command {
	return a.command("history THREAD", "List the steps of a thread", "Lists the steps of a thread, oldest first, with what ran and who decided.",
		"hitl-tui history 7f3k", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			d, err := a.open(cmd.Context(), openRead)
			if err != nil {
				return err
			}
			defer d.close()
			steps, err := d.History(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.printJSON(wire.Steps(steps))
			}
			t := table{head: []string{"STEP", "TIME", "SOURCE", "NODES", "TOOK", "SIZE", "STATUS", "DECISION"}, grow: 3}
			for _, s := range steps {
				var decided []string
				for _, x := range s.Decisions {
					decided = append(decided, x.Reviewer+" "+x.Action)
				}
				took := ""
				if s.TookMS > 0 {
					took = (time.Duration(s.TookMS) * time.Millisecond).String()
				}
				t.add(strconv.FormatInt(s.Step, 10), s.TS.Local().Format(time.DateTime), s.Source, strings.Join(path.Names(s.Nodes), ", "), took, size(s.SizeBytes), s.Status, strings.Join(decided, ", "))
			}
			a.printTable(t)
			return nil
		})
}

// remark is what a list shows of a decision beside its action: the comment; of a change of the state what it set; of an
// upgrade the beginnings of the fingerprints of both definitions.
func remark(r desk.DecisionRow) string {
	var changed map[string]json.RawMessage
	if r.Question != "" || r.Comment != "" || json.Unmarshal(r.Data, &changed) != nil {
		return firstLine(r.Comment)
	}
	if r.Action == "upgrade" {
		return fmt.Sprintf("definition %.8s to %.8s", readable(changed["from"]), readable(changed["to"]))
	}
	sets := sortedKeys(changed)
	for i, key := range sets {
		sets[i] = key + " = " + string(changed[key])
	}
	return strings.Join(sets, ", ")
}

// readable is content as a person reads it: a text as it is, anything else as indented JSON.
func readable(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return strings.TrimRight(text, "\n")
	}
	var value any
	if json.Unmarshal(content, &value) != nil {
		return string(content)
	}
	pretty, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return string(content)
	}
	return string(pretty)
}

func indent(text string) string { return "    " + strings.ReplaceAll(text, "\n", "\n    ") }

func sortedKeys(object map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
