// Package plot draws small plots of one line in text: bars and sparklines. It knows no colours; every number it draws is
// also to be written beside it, for those who see none of it.
package plot

import "strings"

var (
	eighths = []rune(" ▏▎▍▌▋▊▉█")
	heights = []rune(" ▁▂▃▄▅▆▇█")
)

// Bar is a share of 0 to 1 as a bar in w cells. What is more than nothing is seen.
func Bar(share float64, w int) string {
	if w <= 0 {
		return ""
	}
	n := int(min(max(share, 0), 1)*float64(w*8) + 0.5)
	if share > 0 && n == 0 {
		n = 1
	}
	bar := strings.Repeat("█", n/8)
	if n%8 > 0 {
		bar += string(eighths[n%8])
	}
	return bar + strings.Repeat(" ", w-(n+7)/8)
}

// Spark is numbers as columns of one line, the largest the highest, in at most w cells: where there are more numbers, those
// that share a column are added up.
func Spark(values []int, w int) string {
	if w <= 0 || len(values) == 0 {
		return ""
	}
	columns := make([]int, min(w, len(values)))
	for i, v := range values {
		columns[i*len(columns)/len(values)] += v
	}
	most := 0
	for _, v := range columns {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range columns {
		b.WriteRune(heights[max(v*8/max(most, 1), 1)]) // a base line, so that the time without anything is seen
	}
	return b.String()
}
