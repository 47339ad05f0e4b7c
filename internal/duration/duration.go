// Package duration reads and writes lengths of time as workflow files, the configuration and the command line write
// them: numbers with units, largest first, such as 90s, 1h30m, 2d or 500ms.
package duration

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

type unit struct {
	name string
	size time.Duration
}

// units, largest first. A day is 24 hours: deadlines are counted in elapsed time, not in calendar days.
func units() []unit {
	return []unit{
		{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
	}
}

// Parse reads a duration. A number without a unit is an error, since nobody agrees which one is meant; so are signs,
// a unit given twice and units out of order. The number may have a fraction: 1.5h.
func Parse(text string) (time.Duration, error) {
	if text == "" {
		return 0, fmt.Errorf("a duration is due, such as 30s, 30m or 30h")
	}
	if text == "0" {
		return 0, nil
	}
	var total time.Duration
	rest, last := text, -1
	for rest != "" {
		digits := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if digits < 0 {
			return 0, fmt.Errorf("%q needs a unit: %ss, %sm or %sh", text, rest, rest, rest)
		}
		if digits == 0 {
			return 0, fmt.Errorf("%q is no duration: write 90s, 1h30m or 2d", text)
		}
		number := rest[:digits]
		rest = rest[digits:]
		letters := strings.IndexAny(rest, "0123456789.")
		if letters < 0 {
			letters = len(rest)
		}
		i := index(rest[:letters])
		switch {
		case i < 0:
			return 0, fmt.Errorf("%q is no unit of time: the units are ms, s, m, h, d and w", rest[:letters])
		case i <= last:
			return 0, fmt.Errorf("%q is no duration: write each unit once, the largest first, as in 1h30m", text)
		}
		last, rest = i, rest[letters:]
		part, ok := times(number, units()[i].size)
		if !ok {
			return 0, fmt.Errorf("%q is no duration: write 90s, 1h30m or 2d", text)
		}
		if total += part; part > longest || total > longest {
			return 0, fmt.Errorf("%q is too long: the most is 146 years", text)
		}
	}
	return total, nil
}

// longest leaves room for a sum of two durations.
const longest = time.Duration(math.MaxInt64 / 2)

// times is number, which may have a fraction, times size; a result over longest is longest+1. The whole part is
// multiplied as an integer, since a float64 has not digits enough for the nanoseconds of a century.
func times(number string, size time.Duration) (time.Duration, bool) {
	whole, fraction, dotted := strings.Cut(number, ".")
	if whole == "" || dotted && fraction == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	if errors.Is(err, strconv.ErrRange) || n > int64(longest/size) {
		return longest + 1, true
	}
	if err != nil {
		return 0, false
	}
	total := time.Duration(n) * size
	if dotted {
		f, err := strconv.ParseFloat("0."+fraction, 64)
		if err != nil {
			return 0, false
		}
		total += time.Duration(math.Round(f * float64(size)))
	}
	return total, true
}

func index(name string) int {
	for i, u := range units() {
		if u.name == name {
			return i
		}
	}
	return -1
}

// Format writes d so that Parse reads it back, to the millisecond: 1h30m, 30d, 500ms, 0s. It writes no weeks: 30d says
// more than 4w2d.
func Format(d time.Duration) string {
	if d < time.Millisecond {
		return "0s"
	}
	var b strings.Builder
	for _, u := range units()[1:] {
		if n := d / u.size; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, u.name)
			d -= n * u.size
		}
	}
	return b.String()
}
