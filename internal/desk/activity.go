package desk

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Period is a time up to now over which activity is looked at.
type Period string

// The periods.
const (
	LastDay   Period = "24h"
	LastWeek  Period = "7d"
	LastMonth Period = "30d"
)

// Periods lists the periods, the shortest first.
func Periods() []Period { return []Period{LastDay, LastWeek, LastMonth} }

// parts is how many parts of what length a period has, for plots.
func (p Period) parts() (n int, each time.Duration) {
	switch p {
	case LastWeek:
		return 28, 6 * time.Hour
	case LastMonth:
		return 30, 24 * time.Hour
	}
	return 24, time.Hour
}

// Length is how long a period is.
func (p Period) Length() time.Duration {
	n, each := p.parts()
	return time.Duration(n) * each
}

// mostRows bounds how many decisions one look at the activity reads.
const mostRows = 20_000

// Activity is what was decided in a period, and what waits now.
type Activity struct {
	Period  Period
	From    time.Time
	To      time.Time
	Waiting int64           // threads, now
	Rows    []DecisionRow   // newest first, those of the period
	Cut     bool            // there were more: the figures are of the newest
	Parts   []int           // decisions in each part of the period, oldest first
	Each    time.Duration   // length of a part
	All     ActivityGroup   // all of them together
	By      []ActivityTable // by workflow, node and reviewer
}

// ActivityTable is the same figures for every workflow, node or reviewer, the busiest first.
type ActivityTable struct {
	What   string // workflow, node, reviewer
	Groups []ActivityGroup
}

// ActivityGroup is the figures of some decisions.
type ActivityGroup struct {
	Name      string
	Decisions int
	Approved  int // taken as it was: approve, continue, choose, submit, an answer, save
	Edited    int // taken with a change: edit
	Rejected  int // not taken: reject, stop, cancel, skip
	Again     int // sent back: retry, reply
	ByRules   int
	Median    time.Duration // from the question to the decision
	Slowest   time.Duration // nine of ten were faster

	waits []time.Duration
}

// PerHour is how many decisions were made in an hour of the period.
func (a *Activity) PerHour() float64 {
	hours := a.To.Sub(a.From).Hours()
	if hours <= 0 {
		return 0
	}
	return float64(a.All.Decisions) / hours
}

// Activity reads what was decided in a period and works out its figures.
func (d *Desk) Activity(ctx context.Context, p Period) (*Activity, error) {
	if !slices.Contains(Periods(), p) {
		return nil, usagef("unknown period %q: give 24h, 7d or 30d", p)
	}
	now, err := d.now(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := d.decidedSince(ctx, now.Add(-p.Length()), mostRows+1)
	if err != nil {
		return nil, err
	}
	counts, err := d.Counts(ctx)
	if err != nil {
		return nil, err
	}
	return ActivityOf(p, now, counts[Waiting], rows), nil
}

// ActivityOf works out the figures of decisions, newest first, of which those before the period do not count.
func ActivityOf(p Period, now time.Time, waiting int64, rows []DecisionRow) *Activity {
	a := &Activity{Period: p, From: now.Add(-p.Length()), To: now, Waiting: waiting}
	for _, r := range rows {
		if !r.DecidedAt.Before(a.From) {
			a.Rows = append(a.Rows, r)
		}
	}
	if len(a.Rows) > mostRows {
		a.Rows, a.Cut = a.Rows[:mostRows], true
	}
	a.work()
	return a
}

func (d *Desk) decidedSince(ctx context.Context, since time.Time, limit int) ([]DecisionRow, error) {
	recorder, ok := d.source.(Recorder)
	if ok {
		return recorder.DecisionsSince(ctx, since, limit)
	}
	auditor, ok := d.source.(Auditor)
	if !ok {
		return nil, unsupported("tell who decided what")
	}
	rows, err := auditor.Decisions(ctx, "", limit)
	return slices.DeleteFunc(rows, func(r DecisionRow) bool { return r.DecidedAt.Before(since) }), err
}

// work computes the figures. What was withdrawn was not decided.
func (a *Activity) work() {
	n, each := a.Period.parts()
	a.Parts, a.Each = make([]int, n), each
	tables := []struct {
		what string
		name func(DecisionRow) string
	}{
		{"workflow", func(r DecisionRow) string { return r.Workflow }},
		{"node", func(r DecisionRow) string { return nodeOf(r) }},
		{"reviewer", func(r DecisionRow) string { return r.Reviewer }},
	}
	groups := make([]map[string]*ActivityGroup, len(tables))
	for i := range groups {
		groups[i] = map[string]*ActivityGroup{}
	}
	for _, r := range a.Rows {
		if r.Outcome == "withdrawn" {
			continue
		}
		a.All.add(r)
		if at := int(r.DecidedAt.Sub(a.From) / each); at >= 0 && at <= n {
			a.Parts[min(at, n-1)]++
		}
		for i, t := range tables {
			name := t.name(r)
			if groups[i][name] == nil {
				groups[i][name] = &ActivityGroup{Name: name}
			}
			groups[i][name].add(r)
		}
	}
	a.All.settle()
	for i, t := range tables {
		table := ActivityTable{What: t.what}
		for _, g := range groups[i] {
			g.settle()
			table.Groups = append(table.Groups, *g)
		}
		slices.SortFunc(table.Groups, func(x, y ActivityGroup) int {
			return cmp.Or(y.Decisions-x.Decisions, strings.Compare(x.Name, y.Name))
		})
		a.By = append(a.By, table)
	}
}

// nodeOf is workflow and node, without the numbers of map items: one node asks about all of them.
func nodeOf(r DecisionRow) string {
	var kept []string
	for _, s := range strings.Split(r.Address, "/") {
		if strings.Trim(s, "0123456789") != "" {
			kept = append(kept, s)
		}
	}
	if r.Workflow == "" {
		return strings.Join(kept, "/")
	}
	return r.Workflow + " / " + strings.Join(kept, "/")
}

func (g *ActivityGroup) add(r DecisionRow) {
	g.Decisions++
	switch actions.Action(r.Action) {
	case actions.Edit:
		g.Edited++
	case actions.Reject, actions.Stop, actions.Cancel, actions.Skip:
		g.Rejected++
	case actions.Retry, actions.Reply:
		g.Again++
	default:
		g.Approved++
	}
	if _, is := ByRule(r.Reviewer); is {
		g.ByRules++
	}
	if r.Waited > 0 {
		g.waits = append(g.waits, r.Waited)
	}
}

func (g *ActivityGroup) settle() {
	if n := len(g.waits); n > 0 {
		slices.Sort(g.waits)
		g.Median, g.Slowest = g.waits[n/2], g.waits[min(n*9/10, n-1)]
	}
	g.waits = nil
}
