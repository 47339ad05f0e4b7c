package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// completeIn bounds how long a shell waits at a tab key.
const completeIn = 2 * time.Second

// completion is how one argument of a command is completed.
type completion func(ctx context.Context, d *opened, args []string) []string

// completing completes the arguments of a command, each in its way; the last way serves those that follow. Only what is
// stored is offered: nothing is made, nothing is written, and a store that cannot be read offers nothing.
func (a *app) completing(cmd *cobra.Command, ways ...completion) *cobra.Command {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		way := ways[min(len(args), len(ways)-1)]
		if way == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		a.flags.quiet, a.flags.readOnly = true, true
		ctx, stop := context.WithTimeout(cmd.Context(), completeIn)
		defer stop()
		d, err := a.open(ctx, openRead)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.close()
		return way(ctx, d, args), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
	return cmd
}

// threadsIn completes the ids of threads in one of the tabs, those that wait first, with what they are about.
func threadsIn(tab desk.Tab) completion {
	return func(ctx context.Context, d *opened, args []string) []string {
		page, err := d.Threads(ctx, desk.Query{Tab: tab, Limit: 200})
		if err != nil {
			return nil
		}
		var ids []string
		for _, t := range page.Threads {
			ids = append(ids, described(t.ID, strings.Join([]string{t.Status, t.Workflow, t.Title}, " ")))
		}
		return ids
	}
}

// actionsOf completes the actions that the open questions of the thread named before allow.
func actionsOf(ctx context.Context, d *opened, args []string) []string {
	detail, err := d.Open(ctx, args[0])
	if err != nil {
		return nil
	}
	var names []string
	for _, q := range detail.Questions {
		for _, c := range q.Permitted() {
			names = append(names, described(string(c.Action), c.Summary))
		}
	}
	return names
}

// nothing completes nothing.
func nothing(context.Context, *opened, []string) []string { return nil }

// workflowsOrFiles completes the names of workflows in the configured folders, beside files.
func (a *app) workflowsOrFiles(cmd *cobra.Command) *cobra.Command {
	a.completing(cmd, func(ctx context.Context, d *opened, _ []string) []string {
		all, err := d.Workflows(ctx)
		if err != nil {
			return nil
		}
		var names []string
		for _, w := range all {
			names = append(names, described(w.Name, w.Description))
		}
		return names
	})
	complete := cmd.ValidArgsFunction
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || strings.ContainsAny(typed, "./~") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		names, _ := complete(cmd, args, typed)
		return names, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// fixed completes a flag that takes one of a few words. The flag is the command's own.
func fixed(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// described is a candidate with what a shell shows beside it.
func described(name, about string) string {
	about = firstLine(sanitize.Line(about))
	if r := []rune(about); len(r) > 60 {
		about = string(r[:60])
	}
	return name + "\t" + about
}
