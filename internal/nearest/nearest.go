// Package nearest finds the name a person most likely meant. It imports nothing, so that every package which reports
// an unknown name can use the one rule for "did you mean".
package nearest

// maxDistance is the greatest number of slips for which a suggestion still helps more than it misleads.
const maxDistance = 3

// Name returns the name nearest to want, and whether one is near enough to be suggested. Case does not count. One
// slip (a letter added, left out, replaced, or two neighbours swapped) is allowed for every three letters, at least
// one and at most three. Of equally near names the first wins, so the order of names is the order of preference.
func Name(want string, names []string) (string, bool) {
	w := fold(want)
	if len(w) == 0 {
		return "", false
	}
	best, found := "", false
	limit := min(max(1, len(w)/3), maxDistance)
	for _, name := range names {
		n := fold(name)
		if len(n)-len(w) > limit || len(w)-len(n) > limit {
			continue
		}
		if d := distance(w, n); d <= limit && d < max(len(w), len(n)) {
			best, found, limit = name, true, d-1
			if limit < 0 {
				break
			}
		}
	}
	return best, found
}

// Hint is `; did you mean "NAME"?` for the nearest name, or nothing.
func Hint(want string, names []string) string {
	if name, ok := Name(want, names); ok {
		return `; did you mean "` + name + `"?`
	}
	return ""
}

// fold lowers ASCII letters, the only ones in names of keys, actions and nodes.
func fold(s string) []rune {
	r := []rune(s)
	for i, c := range r {
		if 'A' <= c && c <= 'Z' {
			r[i] = c + 'a' - 'A'
		}
	}
	return r
}

// distance is the optimal string alignment distance (Damerau-Levenshtein without editing a swapped pair again).
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
