package retention

import (
	"strings"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	now := time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)
	cases := []struct {
		limits    Limits
		olderThan time.Time
		step      int64
		err       string
	}{
		{Limits{OlderThan: "30d"}, now.AddDate(0, 0, -30), 0, ""},
		{Limits{OlderThan: " 12h "}, now.Add(-12 * time.Hour), 0, ""},
		{Limits{BeforeStep: "7"}, time.Time{}, 7, ""},
		{Limits{OlderThan: "8w", BeforeStep: "2"}, now.AddDate(0, 0, -56), 2, ""},
		{Limits{Finished: "90d"}, time.Time{}, 0, ""},
		{Limits{OlderThan: "2026-03-01"}, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 0, ""},
		{Limits{Finished: "soon"}, time.Time{}, 0, "finished before: \"soon\" is neither"},
		{Limits{}, time.Time{}, 0, "a bound is missing"},
		{Limits{Status: "done"}, time.Time{}, 0, "a bound is missing"},
		{Limits{OlderThan: "30"}, time.Time{}, 0, `"30" is neither an age nor a time`},
		{Limits{OlderThan: "d"}, time.Time{}, 0, `"d" is neither an age`},
		{Limits{OlderThan: "-3d"}, time.Time{}, 0, "is neither an age"},
		{Limits{OlderThan: "30d", BeforeStep: "x"}, time.Time{}, 0, `"x" is not a step`},
		{Limits{BeforeStep: "0"}, time.Time{}, 0, "is not a step"},
	}
	for _, c := range cases {
		b, err := c.limits.Parse(now)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: error %v, want %q", c.limits, err, c.err)
			}
			continue
		}
		if err != nil || !b.OlderThan.Equal(c.olderThan) || b.BeforeStep != c.step || !b.All {
			t.Errorf("%+v: %+v, %v", c.limits, b, err)
		}
	}
	b, err := Limits{OlderThan: "1d", Status: "done, failed", Workflow: "a,b"}.Parse(now)
	if err != nil || strings.Join(b.Status, " ") != "done failed" || strings.Join(b.Workflow, " ") != "a b" {
		t.Errorf("%+v, %v", b, err)
	}
}
