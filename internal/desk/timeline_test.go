package desk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// timelineSource is threads whose steps were written at minutes of one hour, some of them damaged, and a record of decisions.
type timelineSource struct {
	*fakeSource
	minutes map[string][]int
	hurt    map[string]error // what reading the steps of a thread gives, beside those that can be read
	cut     map[string]int   // how many steps of a thread can be read, where not all
	read    []string         // threads whose steps were read
	record  []DecisionRow
}

var theHour = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func (s *timelineSource) History(_ context.Context, id string) ([]Step, error) {
	s.read = append(s.read, id)
	var steps []Step
	for i, m := range s.minutes[id] {
		if n, is := s.cut[id]; is && i >= n {
			break
		}
		steps = append(steps, Step{Step: int64(i), TS: theHour.Add(time.Duration(m) * time.Minute)})
	}
	return steps, s.hurt[id]
}

// List gives a thread a page, those that were written last first.
func (s *timelineSource) List(_ context.Context, sel Selection) (Page, error) {
	var rows []Thread
	for _, id := range s.order {
		row := s.threads[id].row()
		if m := s.minutes[id]; len(m) > 0 {
			row.Updated = theHour.Add(time.Duration(m[len(m)-1]) * time.Minute)
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b Thread) int { return b.Updated.Compare(a.Updated) })
	at := slices.IndexFunc(rows, func(t Thread) bool { return t.ID == sel.After }) + 1
	page := Page{Threads: rows[at : at+1]}
	if at+1 < len(rows) {
		page.Next = rows[at].ID
	}
	return page, nil
}

func (s *timelineSource) Decisions(context.Context, string, int) ([]DecisionRow, error) {
	return s.record, nil
}

func (s *timelineSource) Verify(context.Context, string, []RecordEnd) (*Verified, error) {
	return &Verified{}, nil
}

func newTimelineSource() *timelineSource {
	s := &timelineSource{fakeSource: newFake(), hurt: map[string]error{}, minutes: map[string][]int{"t-old": {1, 2}, "t-mid": {10, 20, 30}, "t-new": {15, 40}}}
	for _, id := range []string{"t-mid", "t-old", "t-new"} {
		s.add(id, 1)
	}
	s.record = []DecisionRow{{Thread: "t-mid", Version: "1.1", Action: "approve", DecidedAt: theHour.Add(25 * time.Minute)}}
	return s
}

// told is a timeline in short: thread@minute, with a star for a decision.
func told(events []Event) string {
	var all []string
	for _, e := range events {
		mark := ""
		if e.Kind == Decided {
			mark = "*"
		}
		all = append(all, fmt.Sprintf("%s@%d%s", strings.TrimPrefix(e.Thread, "t-"), int(e.At.Sub(theHour).Minutes()), mark))
	}
	return strings.Join(all, " ")
}

// TestTimeline: the latest of what happened in all threads comes in its order, and a thread that is damaged, or was deleted
// meanwhile, hides neither the others nor what can be read of it.
func TestTimeline(t *testing.T) {
	damaged := &Error{Code: CodeStoreCorrupt, Message: "step 2 of t-mid is damaged"}
	gone := &Error{Code: CodeNotFound, Message: "no thread t-new"}
	for name, c := range map[string]struct {
		thread string
		limit  int
		hurt   map[string]error
		cut    map[string]int // how many steps can be read
		want   string
		read   int // threads whose steps are read at most
		err    error
	}{
		"all":                        {limit: 99, want: "old@1 old@2 mid@10 new@15 mid@20 mid@25* mid@30 new@40", read: 3},
		"the latest":                 {limit: 4, want: "mid@20 mid@25* mid@30 new@40", read: 2},
		"one thread":                 {thread: "t-mid", limit: 99, want: "mid@10 mid@20 mid@25* mid@30", read: 1},
		"damaged":                    {limit: 99, hurt: map[string]error{"t-mid": damaged}, cut: map[string]int{"t-mid": 0}, want: "old@1 old@2 new@15 mid@25* new@40", read: 3, err: damaged},
		"half of it damaged":         {limit: 99, hurt: map[string]error{"t-mid": damaged}, cut: map[string]int{"t-mid": 1}, want: "old@1 old@2 mid@10 new@15 mid@25* new@40", read: 3, err: damaged},
		"damaged before the latest":  {limit: 2, hurt: map[string]error{"t-new": damaged}, cut: map[string]int{"t-new": 0}, want: "mid@25* mid@30", read: 2, err: damaged},
		"one damaged thread":         {thread: "t-mid", limit: 99, hurt: map[string]error{"t-mid": damaged}, cut: map[string]int{"t-mid": 1}, want: "mid@10 mid@25*", read: 1, err: damaged},
		"deleted since it is listed": {limit: 99, hurt: map[string]error{"t-new": gone}, cut: map[string]int{"t-new": 0}, want: "old@1 old@2 mid@10 mid@20 mid@25* mid@30", read: 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTimelineSource()
			for id, err := range c.hurt {
				s.hurt[id] = err
			}
			s.cut = c.cut
			d, err := New(s, Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close(context.Background()) })
			events, err := d.Timeline(t.Context(), c.thread, c.limit)
			if got := told(events); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("the error is %v, want %v", err, c.err)
			}
			if len(s.read) > c.read {
				t.Errorf("the steps of %v are read", s.read)
			}
		})
	}
}

// TestTimelineOfNothing: a limit that is none is refused, and an end that came while threads are read is told at once.
func TestTimelineOfNothing(t *testing.T) {
	s := newTimelineSource()
	d, err := New(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(context.Background()) })
	if _, err := d.Timeline(t.Context(), "", 0); Code(err) != CodeUsage {
		t.Errorf("a limit of 0: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for id := range s.minutes {
		s.hurt[id] = context.Canceled
	}
	if _, err := d.Timeline(ctx, "", 9); !errors.Is(err, context.Canceled) || len(s.read) > 1 {
		t.Errorf("%v, after %v", err, s.read)
	}
}
