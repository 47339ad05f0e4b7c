package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// listFlags are the flags of both lists.
type listFlags struct {
	filter   string
	status   []string
	workflow []string
	sort     string
	limit    int
	after    string
	all      bool
}

func (f *listFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.filter, "filter", "", "filter, such as `status:failed older:2d claimed:none`")
	flags.StringArrayVar(&f.status, "status", nil, "only this status; may be given often")
	flags.StringArrayVar(&f.workflow, "workflow", nil, "only this workflow; may be given often")
	flags.StringVar(&f.sort, "sort", "", "due, waiting, updated or name (due)")
	flags.IntVar(&f.limit, "limit", 50, "rows of a page")
	flags.StringVar(&f.after, "after", "", "go on after the row with this cursor")
	flags.BoolVar(&f.all, "all", false, "all rows, however many")
	cmd.MarkFlagsMutuallyExclusive("all", "limit")
	fixed(cmd, "status", desk.All.Statuses()...)
	fixed(cmd, "sort", "due", "waiting", "updated", "name")
}

func (f *listFlags) query() (desk.Query, error) {
	if f.limit < 1 || f.limit > 10000 {
		return desk.Query{}, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("--limit %d is not between 1 and 10000", f.limit)}
	}
	q := desk.Query{Tab: desk.All, Filter: desk.Filtered(f.filter, f.status, f.workflow), Sort: f.sort, Limit: f.limit, After: f.after}
	if f.all {
		q.Limit = 1000
	}
	return q, nil
}

func (a *app) threadsCommand() *cobra.Command {
	return a.listCommand("threads", "List threads", "Lists threads, those that wait first: by deadline, then by how long they have waited.",
		"hitl-tui threads --status interrupted\nhitl-tui threads --filter 'node:review older:2d' --json",
		func(ctx context.Context, d *opened, q *desk.Query, all bool) (any, func(), error) {
			rows, next, err := pages(all, q, func() ([]desk.Thread, string, error) {
				page, err := d.Threads(ctx, *q)
				return page.Threads, page.Next, err
			})
			return wire.Threads(rows), func() { a.printThreads(rows, next) }, err
		})
}

// listing reads what a list command lists, as JSON and as what prints it.
type listing func(ctx context.Context, d *opened, q *desk.Query, all bool) (asJSON any, print func(), err error)

func (a *app) listCommand(use, short, long, example string, list listing) *cobra.Command {
	var f listFlags
	cmd := a.command(use, short, long, example, cobra.NoArgs, nil)
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		q, err := f.query()
		if err != nil {
			return err
		}
		d, err := a.open(cmd.Context(), openRead)
		if err != nil {
			return err
		}
		defer d.close()
		asJSON, print, err := list(cmd.Context(), d, &q, f.all)
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.printJSON(asJSON)
		}
		print()
		return nil
	}
	return cmd
}

// pages reads one page, or with all every one.
func pages[T any](all bool, q *desk.Query, read func() ([]T, string, error)) ([]T, string, error) {
	var rows []T
	for {
		page, next, err := read()
		if err != nil {
			return nil, "", err
		}
		rows = append(rows, page...)
		if !all || next == "" {
			return rows, next, nil
		}
		q.After = next
	}
}

func (a *app) printThreads(threads []desk.Thread, next string) {
	if len(threads) == 0 {
		a.say("no threads; start one with `hitl-tui run FILE`, or look at `hitl-tui demo`")
		return
	}
	t := table{head: []string{"THREAD", "STATUS", "WORKFLOW", "NODE", "TITLE", "AGE", "DUE", "CLAIMED"}, grow: 4}
	now := time.Now()
	for _, x := range threads {
		title := x.Title
		if x.Error != "" && x.Status == "failed" {
			title = x.Error
		}
		due := ""
		if !x.Due.IsZero() {
			due = age(x.Due.Sub(now))
			if x.Due.Before(now) {
				due = "over " + age(now.Sub(x.Due))
			}
		}
		since := x.WaitingSince
		if since.IsZero() {
			since = x.Updated
		}
		old := ""
		if !since.IsZero() { // of a row that cannot be read nothing is known
			old = age(now.Sub(since))
		}
		t.add(x.Short, x.Status, x.Workflow, x.Node, firstLine(title), old, due, x.Claimed)
	}
	a.printTable(t)
	if next != "" {
		a.say("there are more: --after %s, or --all", next)
	}
}

func (a *app) questionsCommand() *cobra.Command {
	return a.listCommand("questions", "List open questions", "Lists the open questions of all threads, or of those the filter selects.",
		"hitl-tui questions\nhitl-tui questions --workflow release-notes --json",
		func(ctx context.Context, d *opened, q *desk.Query, all bool) (any, func(), error) {
			rows, next, err := pages(all, q, func() ([]desk.Question, string, error) { return d.Questions(ctx, *q) })
			return wire.Questions(rows), func() { a.printQuestions(rows, next) }, err
		})
}

func (a *app) printQuestions(questions []desk.Question, next string) {
	if len(questions) == 0 {
		a.say("no open questions")
		return
	}
	t := table{head: []string{"THREAD", "QUESTION", "KIND", "TITLE", "ASKED", "ACTIONS"}, grow: 3}
	now := time.Now()
	for _, q := range questions {
		var allowed []string
		for _, choice := range q.Permitted() {
			allowed = append(allowed, string(choice.Action))
		}
		t.add(q.Thread, q.Address, string(q.Kind), firstLine(q.Title), age(now.Sub(q.Asked)), strings.Join(allowed, " "))
	}
	a.printTable(t)
	if next != "" {
		a.say("there are more: --after %s, or --all", next)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
