package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/duration"
)

func (a *app) pruneCommand() *cobra.Command {
	var b desk.Bounds
	var older, finished string
	var dryRun, yes bool
	cmd := a.command("prune [THREAD...]", "Delete old steps, or whole ended threads",
		`Deletes steps below a step or older than a time (both mean AND), of some threads or of all, or with --finished-before
whole threads that have ended. With steps, the head of a thread, which holds its open questions, and its record of
decisions stay. A whole thread goes with its record: what remains is a tombstone with the length and last hash of the
record, as after "hitl-tui delete". Nothing of a thread that runs is deleted. --dry-run shows exactly what would go.`,
		`hitl-tui prune --all --older-than 30d --dry-run
hitl-tui prune 7f3k --before-step 50
hitl-tui prune --all --finished-before 2026-01-01T00:00:00Z --yes`, nil, nil)
	flags := cmd.Flags()
	flags.BoolVar(&b.All, "all", false, "of all threads")
	flags.Int64Var(&b.BeforeStep, "before-step", 0, "steps strictly below this one")
	flags.StringVar(&older, "older-than", "", "steps older than an age (30d) or a time (RFC 3339)")
	flags.StringVar(&finished, "finished-before", "", "whole threads that ended before an age or a time")
	flags.StringArrayVar(&b.Workflow, "workflow", nil, "only of this workflow; may be given often")
	flags.StringArrayVar(&b.Status, "status", nil, "only of threads with this status; may be given often")
	flags.BoolVar(&dryRun, "dry-run", false, "show what would go, delete nothing")
	flags.BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		b.Threads = args
		now := time.Now()
		var err error
		if b.OlderThan, err = moment("--older-than", older, now); err != nil {
			return err
		}
		if b.FinishedBefore, err = moment("--finished-before", finished, now); err != nil {
			return err
		}
		if err := checkBounds(cmd, b); err != nil {
			return err
		}
		d, err := a.open(cmd.Context(), openExisting)
		if err != nil {
			return err
		}
		defer d.close()
		return a.prune(cmd, d, b, dryRun, yes)
	}
	return cmd
}

func checkBounds(cmd *cobra.Command, b desk.Bounds) error {
	usage := func(message, remedy string) error {
		return &desk.Error{Code: desk.CodeUsage, Message: message, Remedy: remedy}
	}
	switch {
	case cmd.Flags().Changed("before-step") && b.BeforeStep < 1:
		return usage(fmt.Sprintf("--before-step %d deletes nothing", b.BeforeStep), "give 1 or more")
	case b.BeforeStep == 0 && b.OlderThan.IsZero() && b.FinishedBefore.IsZero():
		return usage("prune needs a bound", "give --before-step, --older-than or --finished-before")
	case b.All && len(b.Threads) > 0:
		return usage("threads and --all together", "give one of them")
	case !b.All && len(b.Threads) == 0:
		return usage("prune needs threads", "name some, or give --all")
	}
	return nil
}

func (a *app) prune(cmd *cobra.Command, d *opened, b desk.Bounds, dryRun, yes bool) error {
	preview, err := d.Prune(cmd.Context(), b, true, nil)
	if err != nil {
		return err
	}
	if !dryRun && preview.Steps+preview.Deleted > 0 && !yes {
		a.printPruned(preview)
		question := fmt.Sprintf("Delete %s of %s? This cannot be undone.", plural(preview.Steps, "step"), plural(preview.Threads, "thread"))
		if preview.Deleted > 0 {
			question = fmt.Sprintf("Delete %s of %s, %d of them whole with their record of decisions? This cannot be undone.",
				plural(preview.Steps, "step"), plural(preview.Threads, "thread"), preview.Deleted)
		}
		if err := a.confirm(question); err != nil {
			return err
		}
	}
	result := preview
	if !dryRun {
		if result, err = d.Prune(cmd.Context(), b, false, a.counter("pruned", number)); err != nil {
			return err
		}
	}
	if a.flags.json {
		return a.printJSON(wire.FromPruned(result))
	}
	a.printPruned(result)
	return nil
}

func (a *app) printPruned(p *desk.Pruned) {
	if a.flags.json {
		return
	}
	t := table{head: []string{"THREAD", "WORKFLOW", "STEPS", "SIZE", ""}, grow: 1}
	for _, x := range p.Per {
		whole := ""
		if x.Whole {
			whole = "whole thread"
		}
		t.add(x.Thread, x.Workflow, strconv.FormatInt(x.Steps, 10), size(x.Bytes), whole)
	}
	if len(t.rows) > 0 {
		a.printTable(t)
	}
	verb := "deleted"
	if p.DryRun {
		verb = "would delete"
	}
	fmt.Fprintf(a.out, "%s %s of %s (%s); %s kept\n", verb, plural(p.Steps, "step"), plural(p.Threads, "thread"), size(p.Bytes), plural(p.Heads, "head"))
	if len(p.Skipped) > 0 {
		a.say("left alone because they run: %s", strings.Join(p.Skipped, ", "))
	}
}

func (a *app) deleteCommand() *cobra.Command {
	var yes bool
	cmd := a.command("delete THREAD...", "Delete threads whole", "Deletes threads with all their steps. What remains is a tombstone with the length and last hash of the record of decisions.",
		"hitl-tui delete 7f3k --yes", cobra.MinimumNArgs(1), nil)
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := a.open(cmd.Context(), openExisting)
		if err != nil {
			return err
		}
		defer d.close()
		if !yes {
			if err := a.confirm(fmt.Sprintf("Delete %s whole? This cannot be undone.", plural(int64(len(args)), "thread"))); err != nil {
				return err
			}
		}
		if err := d.Delete(cmd.Context(), args...); err != nil {
			return err
		}
		if a.flags.json {
			return a.printJSON(wire.Deleted{Deleted: len(args)})
		}
		a.say("deleted %s", plural(int64(len(args)), "thread"))
		return nil
	}
	return cmd
}

func (a *app) sweepCommand() *cobra.Command {
	var carryOn bool
	cmd := a.command("sweep", "Apply deadlines and timers that are due", "Applies what is due: deadlines with their default answers, timers, and the retention of the configuration. With --carry-on it also runs stalled threads on, but not again what failed: that is for resume THREAD --carry-on, once its cause is mended. An open desk does the same by itself.",
		"hitl-tui sweep\nhitl-tui sweep --carry-on", cobra.NoArgs, nil)
	cmd.Flags().BoolVar(&carryOn, "carry-on", false, "run stalled threads on")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := a.open(cmd.Context(), openExisting)
		if err != nil {
			return err
		}
		defer d.close()
		results, err := d.Sweep(cmd.Context(), carryOn, a.counter("swept", number))
		if err != nil {
			return err
		}
		if len(results) == 0 && !a.flags.json {
			a.say("nothing is due")
		}
		if err := a.tellAll(results); err != nil {
			return err
		}
		return a.retain(cmd, d)
	}
	return cmd
}

// confirm asks on the terminal; without one it refuses and says what to give instead.
func (a *app) confirm(question string) error {
	if !a.inTTY {
		return &desk.Error{Code: desk.CodeUsage, Message: "this cannot be undone and there is no terminal to ask on", Remedy: "give --yes, or --dry-run to look first"}
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	line, err := bufio.NewReader(a.in).ReadString('\n')
	if answer := strings.ToLower(strings.TrimSpace(line)); err == nil && (answer == "y" || answer == "yes") {
		return nil
	}
	return &desk.Error{Code: desk.CodeCancelled, Message: "nothing was deleted"}
}

// moment reads an age before now, such as 30d, or a time in RFC 3339 or as a date.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := duration.Moment(text, now)
	if err != nil {
		return t, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("%s: %v", flag, err), Err: err}
	}
	return t, nil
}
