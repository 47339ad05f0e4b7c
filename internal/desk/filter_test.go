package desk

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestParseFilter(t *testing.T) {
	all := []string{"interrupted", "sleeping", "running", "failed", "stalled", "done", "rejected", "stopped", "cancelled"}
	tests := map[string]Selection{
		"":                                  {},
		"  ":                                {},
		"status:failed":                     {Status: []string{"failed"}},
		"status:failed,stalled":             {Status: []string{"failed", "stalled"}},
		"status:done status:done":           {Status: []string{"done", "done"}},
		"is:failed node:review":             {Failing: true, Node: []string{"review"}},
		"node:review workflow:a":            {Node: []string{"review"}, Workflow: []string{"a"}},
		`workflow:"two words",b`:            {Workflow: []string{"two words", "b"}},
		`node:"a \"b\" \\c"`:                {Node: []string{`a "b" \c`}},
		"older:2d":                          {OlderThan: noon.Add(-48 * time.Hour)},
		"older:1h30m":                       {OlderThan: noon.Add(-90 * time.Minute)},
		"newer:2026-03-01":                  {NewerThan: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)},
		"due:<2h":                           {DueBefore: noon.Add(2 * time.Hour)},
		"due:2h":                            {DueBefore: noon.Add(2 * time.Hour)},
		"due:now":                           {DueBefore: noon},
		"claimed:none":                      {Claimed: "none"},
		"claimed:ana":                       {Claimed: "ana"},
		"assignee:ana group:ops":            {Assignee: []string{"ana"}, Group: []string{"ops"}},
		"priority:high,urgent":              {Priority: []string{"high", "urgent"}},
		"pay   invoice":                     {Text: "pay invoice"},
		`"a:b  c" d`:                        {Text: "a:b  c d"},
		"-draft":                            {Text: "-draft"},
		"status:done größe,x":               {Status: []string{"done"}, Text: "größe,x"},
		"-status:failed":                    {Status: without(all, "failed")},
		"status:failed,done -status:failed": {Status: []string{"done"}},
	}
	for filter, want := range tests {
		got, err := ParseFilter(filter, noon)
		if err != nil {
			t.Errorf("%q: %v", filter, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", filter, diff)
		}
	}
}

func without(list []string, name string) []string {
	var kept []string
	for _, x := range list {
		if x != name {
			kept = append(kept, x)
		}
	}
	return kept
}

func TestFilterErrorsNameThePlaceAndTheRemedy(t *testing.T) {
	tests := []struct{ filter, place, reason string }{
		{"node:a stats:failed", `column 8 ("stats:failed")`, `did you mean "status"?`},
		{"status:faild", `column 1 ("status:faild")`, `did you mean "failed"?`},
		{"status:", "column 1", "status needs a value, as in status:interrupted"},
		{"status:failed,", "column 1", "status needs a value"},
		{"größe older:2x", `column 7 ("older:2x")`, "write 90s, 30m, 1h30m, 2d or 1w"},
		{"older:1d,2d", "column 1", "only one can be given"},
		{"older:1d older:2d", "column 10", "only one can be given"},
		{"older:99999999w", "column 1", "more than a hundred years"},
		{"due:>2h", "column 1", "only what is due before a time"},
		{"claimed:a,b", "column 1", "only one"},
		{"priority:hi", "column 1", "valid are low, normal, high, urgent"},
		{"-node:a", "column 1", "only status can be excluded"},
		{`a "b c`, `column 3`, `the closing " is missing`},
		{"http://x", "column 1", "a text with a colon needs quotes"},
		{"status:done -status:done", "column 1", "every status is excluded"},
	}
	for _, test := range tests {
		_, err := ParseFilter(test.filter, noon)
		var fault *FilterError
		if !errors.As(err, &fault) || Code(err) != CodeUsage {
			t.Errorf("%q: %v, want a FilterError", test.filter, err)
			continue
		}
		if !strings.Contains(err.Error(), test.place) || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%q: %v\nwant %s and %s", test.filter, err, test.place, test.reason)
		}
	}
}

func TestComplete(t *testing.T) {
	f := newFake()
	f.add("thread-1", 1)
	f.add("thread 2", 1)
	d := openDesk(t, f, Options{})
	tests := []struct {
		filter string // | is the cursor
		want   []string
	}{
		{"|", []string{"status:|", "is:|", "workflow:|", "node:|", "claimed:|", "assignee:|", "group:|", "priority:|", "older:|", "newer:|", "due:|"}},
		{"st|", []string{"status:|"}},
		{"node:a ST|", []string{"node:a status:|"}},
		{"-s|", []string{"-status:|"}},
		{"st| node:a", []string{"status:| node:a"}},
		{"status:fa|", []string{"status:failed|"}},
		{"status:done,f|", []string{"status:done,failed|"}},
		{"claimed:|", []string{"claimed:none|", "claimed:any|"}},
		{"workflow:w-|", []string{`workflow:"w-thread 2"|`, "workflow:w-thread-1|"}},
		{`workflow:"w-thread |`, []string{`workflow:"w-thread 2"|`}},
		{"nothing:|", nil},
		{"hello|", nil},
	}
	for _, test := range tests {
		cursor := strings.IndexByte(test.filter, '|')
		filter := strings.Replace(test.filter, "|", "", 1)
		var got []string
		for _, c := range d.Complete(t.Context(), filter, cursor) {
			got = append(got, filter[:c.From]+c.Insert+"|"+filter[c.To:])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.filter, diff)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"status:failed node:review older:2d claimed:none", `a "b\"c" -status:done`, "due:<2h,", "\xff:\"", "older:9999999999w"} {
		f.Add(seed, len(seed)/2)
	}
	d, err := New(newFake(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, filter string, cursor int) {
		_, err := ParseFilter(filter, noon)
		var fault *FilterError
		switch {
		case errors.As(err, &fault):
			if fault.Offset < 0 || fault.Length < 0 || fault.Offset+fault.Length > len(filter) || fault.Reason == "" {
				t.Errorf("%q: place %d+%d: %v", filter, fault.Offset, fault.Length, err)
			}
		case err != nil:
			t.Errorf("%q: %v is no FilterError", filter, err)
		}
		for _, c := range d.Complete(t.Context(), filter, cursor) {
			if c.From < 0 || c.From > c.To || c.To > len(filter) {
				t.Errorf("%q at %d: candidate %+v outside", filter, cursor, c)
			}
		}
	})
}

// FuzzQuotedValue: what completion inserts is read back as the name it stands for.
func FuzzQuotedValue(f *testing.F) {
	f.Add(`a "b" \c,`)
	f.Fuzz(func(t *testing.T, value string) {
		if value == "" {
			return
		}
		s, err := ParseFilter("node:"+quoteValue(value), noon)
		if err != nil || len(s.Node) != 1 || s.Node[0] != value {
			t.Errorf("node:%s gives %q, %v; want %q", quoteValue(value), s.Node, err, value)
		}
	})
}
