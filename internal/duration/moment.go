package duration

import (
	"fmt"
	"time"
)

// Moment reads a point in time: an age before now, such as 30d, or a time: RFC 3339, or a date with or without a time
// of day in the place of now.
func Moment(text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	d, err := Parse(text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%q is neither an age nor a time: write 30d, 12h or 2026-01-31T00:00:00Z", text)
	}
	return now.Add(-d), nil
}
