package desk

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// recorded is a source with a record of decisions.
type recorded struct {
	*fakeSource
	rows []DecisionRow
}

func (r recorded) Decisions(context.Context, string, int) ([]DecisionRow, error) {
	return slices.Clone(r.rows), nil
}

func (r recorded) Verify(context.Context, string, []RecordEnd) (*Verified, error) { return nil, nil }

func TestActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 1)
		row := func(ago time.Duration, workflow, address, action, by string, waited time.Duration) DecisionRow {
			return DecisionRow{Workflow: workflow, Address: address, Action: action, Reviewer: by, Waited: waited, DecidedAt: time.Now().Add(-ago)}
		}
		withdrawn := row(time.Hour, "notes", "review", "approve", "ana", time.Hour)
		withdrawn.Outcome = "withdrawn"
		src := recorded{f, []DecisionRow{
			row(0, "notes", "review", "approve", "ana", time.Minute),
			withdrawn,
			row(90*time.Minute, "notes", "review", "edit", "bob", 3*time.Minute),
			row(2*time.Hour, "claims", "triage/2/decide", "reject", "ana", 9*time.Minute),
			row(23*time.Hour, "claims", "triage/7/decide", "choose", "rule:small", time.Second),
			row(3*24*time.Hour, "claims", "triage/7/decide", "retry", "ana", time.Hour),
		}}
		d, err := New(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close(t.Context())
		a, err := d.Activity(t.Context(), LastDay)
		if err != nil {
			t.Fatal(err)
		}
		want := ActivityGroup{Decisions: 4, Approved: 2, Edited: 1, Rejected: 1, ByRules: 1, Median: 3 * time.Minute, Slowest: 9 * time.Minute}
		if got := a.All; got.Decisions != want.Decisions || got.Approved != want.Approved || got.Edited != want.Edited || got.Rejected != want.Rejected ||
			got.ByRules != want.ByRules || got.Median != want.Median || got.Slowest != want.Slowest {
			t.Errorf("%+v, want %+v", got, want)
		}
		if a.Waiting != 1 || a.PerHour() != 4.0/24 || len(a.Parts) != 24 || a.Parts[23] != 1 || a.Parts[22] != 2 || a.Parts[1] != 1 {
			t.Errorf("waiting %d, %v an hour, parts %v", a.Waiting, a.PerHour(), a.Parts)
		}
		var nodes []string
		for _, g := range a.By[1].Groups {
			nodes = append(nodes, g.Name)
		}
		if !slices.Equal(nodes, []string{"claims / triage/decide", "notes / review"}) {
			t.Errorf("nodes %v", nodes)
		}
		if week, err := d.Activity(t.Context(), LastWeek); err != nil || week.All.Again != 1 || week.All.Decisions != 5 {
			t.Errorf("%+v, %v", week.All, err)
		}
		if _, err := d.Activity(t.Context(), "1y"); Code(err) != CodeUsage {
			t.Error(err)
		}
	})
}
