// Package ago words times and amounts for a narrow screen: ages, deadlines, durations, sizes.
package ago

import (
	"fmt"
	"strconv"
	"time"
)

// Age is a span in one unit: now, 40s, 3m, 5h, 2d, 8w.
func Age(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 60*24*time.Hour:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
	return fmt.Sprintf("%dw", int(d.Hours()/24/7))
}

// Since is Age from t to now, "" for a zero time.
func Since(now, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Age(now.Sub(t))
}

// Ago says Since as a person would: "just now", "3m ago".
func Ago(now, t time.Time) string {
	s := Since(now, t)
	switch s {
	case "":
		return ""
	case "now":
		return "just now"
	}
	return s + " ago"
}

// Due is a deadline seen from now: "due 46h", "OVER 1h".
func Due(now, due time.Time) string {
	if due.IsZero() {
		return ""
	}
	if d := due.Sub(now); d > 0 {
		if d < 10*time.Second {
			return fmt.Sprintf("due %ds", int(d.Seconds())+1)
		}
		return "due " + Age(d)
	}
	return "OVER " + Age(now.Sub(due))
}

// Left is the seconds that are left until a time, rounded up, so that the last one shows as 1.
func Left(now, until time.Time) int {
	return max(int((until.Sub(now)+time.Second-1)/time.Second), 0)
}

// Clock is a time of day.
func Clock(t time.Time) string { return t.Format("15:04:05") }

// Took is how long something ran: 12ms, 0.4s, 38s, 14m, 3h.
func Took(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return Age(d)
}

// Bytes is a size in decimal units: 12 B, 4.1 kB, 812 MB, 1.24 GB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return short(float64(n)/1e3) + " kB"
	case n < 1_000_000_000:
		return short(float64(n)/1e6) + " MB"
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}

func short(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// Count groups the digits of a number with thin gaps a terminal can draw: 1 204.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
