package duration_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/duration"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour, "1w": 168 * time.Hour, "500ms": 500 * time.Millisecond,
		"1.5h": 90 * time.Minute, "0": 0, "0s": 0, "1m1ms": time.Minute + time.Millisecond,
	} {
		if got, err := duration.Parse(text); err != nil || got != want {
			t.Errorf("Parse(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for text, fault := range map[string]string{
		"": "a duration is due", "30": "needs a unit: 30s, 30m or 30h", "-1s": "no duration", "1y": "no unit of time", "1m1h": "largest first",
		"1s1s": "each unit once", "s": "no duration", "99999999999999999999s": "too long", "7000w7000w": "each unit once", "1 s": "no unit of time", ".5s": "no duration", "1.2.3s": "no duration",
		"99999999w": "too long", "1h30": "needs a unit",
	} {
		if _, err := duration.Parse(text); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("Parse(%q): %v, want %q", text, err, fault)
		}
	}
}

func TestFormatIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(40*365*24*time.Hour/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
		if got, err := duration.Parse(duration.Format(d)); err != nil || got != d {
			t.Fatalf("%v became %q became %v, %v", d, duration.Format(d), got, err)
		}
	})
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.FixedZone("x", 3600))
	for text, want := range map[string]time.Time{
		"30d": now.Add(-30 * 24 * time.Hour), "90m": now.Add(-90 * time.Minute), "0": now,
		"2026-01-31T00:00:00Z":      time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC),
		"2026-01-31T00:00:00.5Z":    time.Date(2026, 1, 31, 0, 0, 0, 5e8, time.UTC),
		"2026-01-31 10:00:00":       time.Date(2026, 1, 31, 10, 0, 0, 0, now.Location()),
		"2026-01-31":                time.Date(2026, 1, 31, 0, 0, 0, 0, now.Location()),
		"2026-01-31T00:00:00+02:00": time.Date(2026, 1, 30, 22, 0, 0, 0, time.UTC),
	} {
		if got, err := duration.Moment(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "30", "-3d", "soon", "2026-13-01"} {
		if _, err := duration.Moment(text, now); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
