package desk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// statuses of each tab but All.
func (t Tab) statuses() []string {
	switch t {
	case Waiting:
		return []string{"interrupted", "sleeping"}
	case Running:
		return []string{"running"}
	case Failed:
		return []string{"failed", "stalled"}
	case Finished:
		return []string{"done", "rejected", "stopped", "cancelled"}
	default:
		return nil
	}
}

// Tabs lists the tabs in their order.
func Tabs() []Tab { return []Tab{Waiting, Running, Failed, Finished, All} }

// Statuses lists the statuses of a tab, of All every one.
func (t Tab) Statuses() []string {
	if t != All && t != "" {
		return t.statuses()
	}
	var all []string
	for _, tab := range Tabs() {
		all = append(all, tab.statuses()...)
	}
	return all
}

// resolve turns the name of a thread into its id.
func (d *Desk) resolve(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", usagef("no thread named")
	}
	return d.source.Resolve(ctx, name)
}

// Whole refuses what is not the whole id of a thread that is there: programs, unlike people, shorten no ids.
func (d *Desk) Whole(ctx context.Context, id string) error {
	found, err := d.resolve(ctx, id)
	if err == nil && found == id {
		return nil
	}
	if code := Code(err); err != nil && code != CodeNotFound && code != CodeAmbiguous && code != CodeUsage {
		return err
	}
	return &Error{Code: CodeNotFound, Message: fmt.Sprintf("there is no thread %q", id), Remedy: "give its whole id"}
}

// Threads lists one page. Errors of the filter are *FilterError.
func (d *Desk) Threads(ctx context.Context, q Query) (Page, error) {
	s, empty, err := d.selection(q)
	if err != nil || empty {
		return Page{}, err
	}
	page, err := d.source.List(ctx, s)
	if err != nil {
		return Page{}, err
	}
	shorten(page.Threads)
	return page, nil
}

// selection reads a query; empty says that nothing can match it.
func (d *Desk) selection(q Query) (s Selection, empty bool, err error) {
	s, err = ParseFilter(q.Filter, d.o.Now())
	if err != nil {
		return s, false, err
	}
	switch q.Tab {
	case "", All:
	case Waiting, Running, Failed, Finished:
		s.Status, empty = intersect(q.Tab.statuses(), s.Status)
	default:
		return s, false, usagef("unknown tab %q", q.Tab)
	}
	switch q.Sort {
	case "", "due", "waiting", "updated", "name":
	default:
		return s, false, usagef("unknown order %q: give due, waiting, updated or name", q.Sort)
	}
	s.Sort, s.Limit, s.After = q.Sort, q.Limit, q.After
	return s, empty, nil
}

func intersect(tab, filter []string) (both []string, empty bool) {
	if len(filter) == 0 {
		return tab, false
	}
	for _, status := range filter {
		if slices.Contains(tab, status) {
			both = append(both, status)
		}
	}
	return both, len(both) == 0
}

// Counts counts the threads of each tab.
func (d *Desk) Counts(ctx context.Context) (Counts, error) {
	byStatus, err := d.source.Counts(ctx)
	if err != nil {
		return nil, err
	}
	counts := Counts{}
	for _, tab := range Tabs() {
		for _, status := range tab.Statuses() {
			counts[tab] += byStatus[status]
		}
	}
	return counts, nil
}

// Open reads one thread with its open questions. thread is an id or any unique ending of four characters or more.
func (d *Desk) Open(ctx context.Context, thread string) (*Detail, error) {
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return nil, err
	}
	detail, err := d.source.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	if detail.Short == "" {
		detail.Short = ending(detail.ID, minShort)
	}
	return detail, nil
}

// Questions lists the open questions of the threads that q selects, thread by thread, and the cursor of the next page
// of threads.
func (d *Desk) Questions(ctx context.Context, q Query) ([]Question, string, error) {
	page, err := d.Threads(ctx, q)
	if err != nil {
		return nil, "", err
	}
	var all []Question
	for _, t := range page.Threads {
		if t.Questions == 0 {
			continue
		}
		detail, err := d.source.Open(ctx, t.ID)
		if Code(err) == CodeNotFound {
			continue // deleted since it was listed
		}
		if err != nil {
			return nil, "", err
		}
		all = append(all, detail.Questions...)
	}
	return all, page.Next, nil
}

// History lists a thread's steps, oldest first.
func (d *Desk) History(ctx context.Context, thread string) ([]Step, error) {
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return nil, err
	}
	return d.source.History(ctx, id)
}

// StateAt reads the state at a step (below 0: the head).
func (d *Desk) StateAt(ctx context.Context, thread string, step int64) (*State, error) {
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return nil, err
	}
	return d.source.State(ctx, id, step)
}

// Diff compares the states of two steps, key by key: changed ones first, then added, removed and the same, each in
// order of name.
func (d *Desk) Diff(ctx context.Context, thread string, a, b int64) ([]KeyDiff, error) {
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return nil, err
	}
	before, err := d.source.State(ctx, id, a)
	if err != nil {
		return nil, err
	}
	after, err := d.source.State(ctx, id, b)
	if err != nil {
		return nil, err
	}
	return diff(before.State, after.State), nil
}

func diff(before, after map[string]json.RawMessage) []KeyDiff {
	names := maps.Clone(before)
	if names == nil {
		names = make(map[string]json.RawMessage)
	}
	maps.Copy(names, after)
	all := make([]KeyDiff, 0, len(names))
	for name := range names {
		x := KeyDiff{Key: name, Before: before[name], After: after[name]}
		_, was := before[name]
		_, is := after[name]
		switch {
		case !was:
			x.Kind = "added"
		case !is:
			x.Kind = "removed"
		case bytes.Equal(x.Before, x.After):
			x.Kind = "same"
		default:
			x.Kind = "changed"
		}
		all = append(all, x)
	}
	order := []string{"changed", "added", "removed", "same"}
	slices.SortFunc(all, func(x, y KeyDiff) int {
		if byKind := slices.Index(order, x.Kind) - slices.Index(order, y.Kind); byKind != 0 {
			return byKind
		}
		return strings.Compare(x.Key, y.Key)
	})
	return all
}

// Info describes the store.
func (d *Desk) Info(ctx context.Context) (StoreInfo, error) {
	info, err := d.source.Info(ctx)
	info.ReadOnly = info.ReadOnly || d.o.ReadOnly
	info.Retention = d.o.Retention
	d.mu.Lock()
	info.Retained = d.last
	d.mu.Unlock()
	return info, err
}
