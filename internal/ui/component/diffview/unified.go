package diffview

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// ParseUnified reads a raw text that is a unified diff already. Lines that are no part of one are kept as they are. A
// removed line that begins with "--" or an added one with "++" is told from the name of a file by the counts of its
// hunk; where these are wrong, as in what models write, a name is what stands with another above a hunk.
func ParseUnified(raw string) Diff {
	u := unified{lines: split(sanitize.Text(raw)), raw: split(raw)}
	for i := range u.lines {
		u.read(i)
	}
	return u.Diff
}

// LooksUnified says whether a text is a unified diff.
func LooksUnified(raw string) bool {
	head := raw[:min(len(raw), 4096)]
	return strings.HasPrefix(head, "diff --git ") || strings.HasPrefix(head, "@@ -") ||
		strings.HasPrefix(head, "--- ") && strings.Contains(head, "\n+++ ")
}

type unified struct {
	Diff
	lines, raw       []string // made safe, and as they are
	leftOld, leftNew int      // lines that the hunk still promises
}

// inHunk says whether the hunk promises more lines.
func (u *unified) inHunk() bool { return u.leftOld > 0 || u.leftNew > 0 }

func (u *unified) read(i int) {
	l := u.lines[i]
	switch {
	case strings.HasPrefix(l, "@@"):
		u.put(Hunk, l)
		u.begin(l)
	case u.isName(i), u.isName(i - 1):
		u.put(Hunk, u.nameOnly(i))
		u.leftOld, u.leftNew, u.old, u.cur = 0, 0, 0, 0
	case !u.inHunk() && (strings.HasPrefix(l, "diff ") || strings.HasPrefix(l, "index ")):
		u.put(Hunk, l)
	case strings.HasPrefix(l, `\`): // "\ No newline at end of file" is a line of neither text
		u.Lines = append(u.Lines, Line{Kind: Same, Text: l})
	case strings.HasPrefix(l, "+"):
		u.leftNew--
		u.put(Added, l[1:])
	case strings.HasPrefix(l, "-"):
		u.leftOld--
		u.put(Removed, l[1:])
	default:
		u.leftOld--
		u.leftNew--
		u.put(Same, strings.TrimPrefix(l, " "))
	}
}

var hunkHead = regexp.MustCompile(`^@@+ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@`)

// begin takes the numbers of lines from the heading of a hunk: "@@ -3,7 +3,8 @@".
func (u *unified) begin(head string) {
	u.leftOld, u.leftNew, u.old, u.cur = 0, 0, 0, 0
	m := hunkHead.FindStringSubmatch(head)
	if m == nil {
		return
	}
	u.old, u.leftOld = number(m[1], 0), number(m[2], 1)
	u.cur, u.leftNew = number(m[3], 0), number(m[4], 1)
}

func number(digits string, without int) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return without
	}
	return n
}

// isName says whether line i names the file before, and the one below it the file after.
func (u *unified) isName(i int) bool {
	if i < 0 || i+1 >= len(u.lines) || !strings.HasPrefix(u.lines[i], "--- ") || !strings.HasPrefix(u.lines[i+1], "+++ ") {
		return false
	}
	if !u.inHunk() {
		return true
	}
	ends := u.leftOld == 1 && u.leftNew == 1 // these two are the last that the hunk promises
	return !ends && i+2 < len(u.lines) && strings.HasPrefix(u.lines[i+2], "@@")
}

// nameOnly is line i without what diff(1) writes behind the name of a file, after a tab: the time of its last change.
func (u *unified) nameOnly(i int) string {
	if len(u.raw) != len(u.lines) {
		return u.lines[i]
	}
	name, _, _ := strings.Cut(u.raw[i], "\t")
	return sanitize.Line(strings.TrimSuffix(name, "\r"))
}
