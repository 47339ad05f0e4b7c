package ago

import (
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct{ got, want string }{
		{Since(now, time.Time{}), ""},
		{Since(now, now.Add(-9*time.Second)), "now"},
		{Since(now, now.Add(-59*time.Second)), "59s"},
		{Since(now, now.Add(-time.Minute)), "1m"},
		{Since(now, now.Add(-47*time.Hour)), "47h"},
		{Since(now, now.Add(-48*time.Hour)), "2d"},
		{Since(now, now.Add(-61*24*time.Hour)), "8w"},
		{Since(now, now.Add(time.Hour)), "now"}, // a clock that runs ahead
		{Ago(now, now), "just now"},
		{Ago(now, now.Add(-3*time.Minute)), "3m ago"},
		{Due(now, time.Time{}), ""},
		{Due(now, now.Add(46*time.Hour)), "due 46h"},
		{Due(now, now.Add(3*time.Second)), "due 4s"},
		{Due(now, now.Add(-time.Hour)), "OVER 1h"},
		{Due(now, now), "OVER now"},
		{Took(0), "-"}, {Took(12 * time.Millisecond), "12ms"}, {Took(400 * time.Millisecond), "0.4s"},
		{Took(38 * time.Second), "38s"}, {Took(14 * time.Minute), "14m"},
		{Bytes(12), "12 B"}, {Bytes(4100), "4.1 kB"}, {Bytes(812e6), "812 MB"}, {Bytes(1_240_000_000), "1.24 GB"},
		{Count(0), "0"}, {Count(999), "999"}, {Count(1204), "1 204"}, {Count(1234567), "1 234 567"}, {Count(-100), "-100"},
	}
	for i, c := range cases {
		if c.got != c.want {
			t.Errorf("case %d: %q, want %q", i, c.got, c.want)
		}
	}
}
