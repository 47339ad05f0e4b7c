package desk

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// FilterError is a mistake in a filter.
type FilterError struct {
	Filter string
	Offset int // in bytes, where the mistake begins
	Length int // in bytes
	Reason string
}

func (e *FilterError) Error() string {
	column := utf8.RuneCountInString(e.Filter[:e.Offset]) + 1
	return fmt.Sprintf("filter, column %d (%q): %s", column, e.Filter[e.Offset:e.Offset+e.Length], e.Reason)
}

// Code is the error code of the command line and of HTTP.
func (e *FilterError) Code() string { return CodeUsage }

// filterField is one key of the filter language.
type filterField struct {
	name    string
	summary string
	values  []string // the valid ones, nil for any
	hints   []string // examples, for completion
	set     func(s *Selection, values []string, now time.Time) error
}

// filterFields is the table from which the filter language is read, completed and explained.
func filterFields() []filterField {
	return []filterField{
		{"status", "done, failed, interrupted ...", All.Statuses(), nil, func(s *Selection, v []string, _ time.Time) error {
			s.Status = append(s.Status, v...)
			return nil
		}},
		{"is", "failed: something failed, also beside questions", []string{"failed"}, nil, func(s *Selection, _ []string, _ time.Time) error {
			s.Failing = true
			return nil
		}},
		{"workflow", "name of the workflow", nil, nil, func(s *Selection, v []string, _ time.Time) error {
			s.Workflow = append(s.Workflow, v...)
			return nil
		}},
		{"node", "node that waits, failed or runs next", nil, nil, func(s *Selection, v []string, _ time.Time) error {
			s.Node = append(s.Node, v...)
			return nil
		}},
		{"claimed", "none, any or a reviewer", nil, []string{"none", "any"}, func(s *Selection, v []string, _ time.Time) error {
			return only(&s.Claimed, v)
		}},
		{"assignee", "who is asked", nil, nil, func(s *Selection, v []string, _ time.Time) error {
			s.Assignee = append(s.Assignee, v...)
			return nil
		}},
		{"group", "group that is asked", nil, nil, func(s *Selection, v []string, _ time.Time) error {
			s.Group = append(s.Group, v...)
			return nil
		}},
		{"priority", "low, normal, high, urgent", []string{"low", "normal", "high", "urgent"}, nil, func(s *Selection, v []string, _ time.Time) error {
			s.Priority = append(s.Priority, v...)
			return nil
		}},
		{"older", "waits longer: 2d, 1h30m, or since before a date", nil, []string{"1h", "1d", "1w"}, func(s *Selection, v []string, now time.Time) error {
			return moment(&s.OlderThan, v, now, -1)
		}},
		{"newer", "waits less long", nil, []string{"1h", "1d", "1w"}, func(s *Selection, v []string, now time.Time) error {
			return moment(&s.NewerThan, v, now, -1)
		}},
		{"due", "due within: <2h; overdue: now", nil, []string{"<2h", "<1d", "now"}, setDue},
	}
}

func only(into *string, values []string) error {
	if len(values) > 1 || *into != "" && *into != values[0] {
		return fmt.Errorf("only one can be given")
	}
	*into = values[0]
	return nil
}

func moment(into *time.Time, values []string, now time.Time, sign time.Duration) error {
	if len(values) > 1 || !into.IsZero() {
		return fmt.Errorf("only one can be given")
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, values[0]); err == nil {
			*into = at
			return nil
		}
	}
	span, err := ParseSpan(values[0])
	if err != nil {
		return err
	}
	*into = now.Add(sign * span)
	return nil
}

func setDue(s *Selection, values []string, now time.Time) error {
	value := strings.TrimPrefix(values[0], "<")
	if strings.HasPrefix(value, ">") {
		return fmt.Errorf("only what is due before a time can be selected: <2h")
	}
	if value == "now" {
		value = "0s"
	}
	return moment(&s.DueBefore, append([]string{value}, values[1:]...), now, 1)
}

// ParseSpan reads a duration with the units s, m, h, d (24 h) and w: 90s, 1h30m, 2d.
func ParseSpan(text string) (time.Duration, error) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	const most = 100 * 365 * 24 * time.Hour
	var total time.Duration
	rest := text
	for rest != "" {
		digits := 0
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits > 9 || digits == len(rest) || units[rest[digits]] == 0 {
			return 0, fmt.Errorf("%q is no time: write 90s, 30m, 1h30m, 2d or 1w, or a date such as 2026-03-01", text)
		}
		var n time.Duration
		for _, c := range []byte(rest[:digits]) {
			n = n*10 + time.Duration(c-'0')
		}
		unit := units[rest[digits]]
		if n > most/unit {
			return 0, fmt.Errorf("%q is more than a hundred years", text)
		}
		total += n * unit
		rest = rest[digits+1:]
	}
	if text == "" {
		return 0, fmt.Errorf("a time is missing: 90s, 30m, 2d or 1w")
	}
	if total > most {
		return 0, fmt.Errorf("%q is more than a hundred years", text)
	}
	return total, nil
}

// Filtered is a filter with more that must hold: one of the statuses, and one of the workflows; none of a kind is any.
func Filtered(filter string, statuses, workflows []string) string {
	terms := []string{filter}
	quoted := func(key, value string) string {
		return key + `:"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	for _, s := range statuses {
		terms = append(terms, quoted("status", s))
	}
	for _, w := range workflows {
		terms = append(terms, quoted("workflow", w))
	}
	return strings.TrimSpace(strings.Join(terms, " "))
}

// filterToken is one word of a filter, where it stands, and how it was written.
type filterToken struct {
	offset, end int
	negated     bool
	key         string // "" for text
	values      []string
	valuesAt    int
}

// ParseFilter reads the filter language: KEY:VALUE words and text, all of which must hold. Values of one key may be
// separated by commas, any of which may hold; "..." quotes a value or a text, \" and \\ are understood in it.
// -status:VALUE excludes. The error is a *FilterError.
func ParseFilter(filter string, now time.Time) (Selection, error) {
	var s Selection
	tokens, err := tokenise(filter)
	if err != nil {
		return s, err
	}
	var text, excluded []string
	for _, t := range tokens {
		if t.key == "" {
			text = append(text, t.values...)
			continue
		}
		field, err := t.field(filter)
		if err != nil {
			return s, err
		}
		if t.negated {
			excluded = append(excluded, t.values...)
			continue
		}
		if err := field.set(&s, t.values, now); err != nil {
			return s, t.fault(filter, "%s: %v", field.name, err)
		}
	}
	s.Text = strings.Join(text, " ")
	s.exclude(excluded)
	if len(excluded) > 0 && len(s.Status) == 0 {
		return s, &FilterError{Filter: filter, Length: len(filter), Reason: "every status is excluded"}
	}
	return s, nil
}

func (s *Selection) exclude(excluded []string) {
	if len(excluded) == 0 {
		return
	}
	if len(s.Status) == 0 {
		s.Status = All.Statuses()
	}
	s.Status = slices.DeleteFunc(slices.Clone(s.Status), func(x string) bool { return slices.Contains(excluded, x) })
}

// field finds the field of a token and checks its values against the valid ones.
func (t filterToken) field(filter string) (filterField, error) {
	fields := filterFields()
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	at := slices.Index(names, t.key)
	if at < 0 {
		return filterField{}, t.fault(filter, "unknown key %q%s (the keys are %s; a text with a colon needs quotes)",
			t.key, nearest.Hint(t.key, names), strings.Join(names, ", "))
	}
	f := fields[at]
	if t.negated && f.name != "status" {
		return f, t.fault(filter, "only status can be excluded")
	}
	for _, v := range t.values {
		if v == "" {
			return f, t.fault(filter, "%s needs a value, as in %s:%s", f.name, f.name, f.example())
		}
		if f.values != nil && !slices.Contains(f.values, v) {
			return f, t.fault(filter, "unknown %s %q%s (valid are %s)", f.name, v, nearest.Hint(v, f.values), strings.Join(f.values, ", "))
		}
	}
	return f, nil
}

func (f filterField) example() string {
	switch {
	case len(f.values) > 0:
		return f.values[0]
	case len(f.hints) > 0:
		return f.hints[0]
	default:
		return "NAME"
	}
}

func (t filterToken) fault(filter, format string, args ...any) error {
	return &FilterError{Filter: filter, Offset: t.offset, Length: t.end - t.offset, Reason: fmt.Sprintf(format, args...)}
}

// tokenise splits a filter into words. The tokens read so far are returned also with an error.
func tokenise(filter string) ([]filterToken, error) {
	var tokens []filterToken
	for at := 0; at < len(filter); {
		if r, size := utf8.DecodeRuneInString(filter[at:]); unicode.IsSpace(r) {
			at += size
			continue
		}
		t, err := readToken(filter, at)
		if err != nil {
			return tokens, err
		}
		tokens = append(tokens, t)
		at = t.end
	}
	return tokens, nil
}

func readToken(filter string, at int) (filterToken, error) {
	t := filterToken{offset: at, valuesAt: at}
	if n := keyLength(filter[at:]); n > 0 {
		t.key = filter[at : at+n-1]
		if t.negated = t.key[0] == '-'; t.negated {
			t.key = t.key[1:]
		}
		at += n
		t.valuesAt = at
	}
	for {
		value, next, err := readValue(filter, at, t.key != "")
		if err != nil {
			return t, err
		}
		t.values = append(t.values, value)
		at = next
		if t.key == "" || at >= len(filter) || filter[at] != ',' {
			break
		}
		at++
	}
	t.end = at
	return t, nil
}

// keyLength is the length of a key with its colon, as in "-status:", or 0.
func keyLength(s string) int {
	i := 0
	if strings.HasPrefix(s, "-") {
		i++
	}
	letters := i
	for i < len(s) && (s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' || s[i] == '_') {
		i++
	}
	if i > letters && i < len(s) && s[i] == ':' {
		return i + 1
	}
	return 0
}

// readValue reads one value, which ends at a space, or in a list at a comma, unless it is quoted.
func readValue(filter string, at int, list bool) (value string, next int, err error) {
	if at < len(filter) && filter[at] == '"' {
		return readQuoted(filter, at)
	}
	start := at
	for at < len(filter) {
		r, size := utf8.DecodeRuneInString(filter[at:])
		if unicode.IsSpace(r) || list && r == ',' {
			break
		}
		at += size
	}
	return filter[start:at], at, nil
}

func readQuoted(filter string, at int) (string, int, error) {
	var b strings.Builder
	for i := at + 1; i < len(filter); i++ {
		switch c := filter[i]; {
		case c == '\\' && i+1 < len(filter) && (filter[i+1] == '"' || filter[i+1] == '\\'):
			i++
			b.WriteByte(filter[i])
		case c == '"':
			return b.String(), i + 1, nil
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, &FilterError{Filter: filter, Offset: at, Length: len(filter) - at, Reason: `the closing " is missing`}
}
