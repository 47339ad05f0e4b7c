package desk

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// completionPage is how many threads are looked at for names of workflows, nodes and people.
const completionPage = 200

// Candidate is one way to go on with a filter: the bytes From to To are replaced by Insert.
type Candidate struct {
	Insert string
	Hint   string // what it means, "" when it says it itself
	From   int
	To     int
}

// Complete offers what can stand at the cursor (in bytes) of a filter: keys, or the values of the key before the
// cursor, those of the present threads for names. Nothing fits: none.
func (d *Desk) Complete(ctx context.Context, filter string, cursor int) []Candidate {
	from, word := wordAt(filter, cursor)
	cursor = from + len(word)
	keyEnd := keyLength(word)
	if keyEnd == 0 {
		return keyCandidates(word, from, cursor)
	}
	key := strings.TrimPrefix(word[:keyEnd-1], "-")
	at := slices.IndexFunc(filterFields(), func(f filterField) bool { return f.name == key })
	if at < 0 {
		return nil
	}
	f := filterFields()[at]
	start := keyEnd
	if comma := strings.LastIndexByte(word[keyEnd:], ','); comma >= 0 {
		start += comma + 1
	}
	prefix := strings.Trim(word[start:], `"`)
	var candidates []Candidate
	for _, value := range d.valuesOf(ctx, f) {
		if hasFold(value, prefix) && value != prefix {
			candidates = append(candidates, Candidate{Insert: quoteValue(value), From: from + start, To: cursor})
		}
	}
	return candidates
}

// wordAt is the word that ends at the cursor, and where it begins. Quoted spaces belong to it.
func wordAt(filter string, cursor int) (from int, word string) {
	cursor = min(max(cursor, 0), len(filter))
	for cursor > 0 && cursor < len(filter) && !utf8.RuneStart(filter[cursor]) {
		cursor--
	}
	before := filter[:cursor]
	tokens, _ := tokenise(before)
	if n := len(tokens); n > 0 {
		from = tokens[n-1].end
		if from == len(before) {
			return tokens[n-1].offset, before[tokens[n-1].offset:]
		}
	}
	trimmed := strings.TrimLeft(before[from:], " \t")
	return cursor - len(trimmed), trimmed
}

func keyCandidates(word string, from, to int) []Candidate {
	negated := strings.HasPrefix(word, "-")
	var candidates []Candidate
	for _, f := range filterFields() {
		name := f.name
		if negated {
			if name != "status" {
				continue
			}
			name = "-" + name
		}
		if hasFold(name, word) {
			candidates = append(candidates, Candidate{Insert: name + ":", Hint: f.summary, From: from, To: to})
		}
	}
	return candidates
}

// valuesOf lists what is worth offering for a key.
func (d *Desk) valuesOf(ctx context.Context, f filterField) []string {
	values := slices.Concat(f.values, f.hints)
	pick := map[string]func(Thread) string{
		"workflow": func(t Thread) string { return t.Workflow },
		"node":     func(t Thread) string { return t.Node },
		"assignee": func(t Thread) string { return t.Assignee },
		"group":    func(t Thread) string { return t.Group },
		"claimed":  func(t Thread) string { return t.Claimed },
	}[f.name]
	if pick == nil {
		return values
	}
	page, err := d.source.List(ctx, Selection{Sort: "updated", Limit: completionPage})
	if err != nil {
		return values // completion helps or stays away, it never fails
	}
	var names []string
	for _, t := range page.Threads {
		if name := pick(t); name != "" && !slices.Contains(names, name) && !slices.Contains(values, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append(values, names...)
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// quoteValue writes a value so that the filter reads it back.
func quoteValue(value string) string {
	if value != "" && !strings.ContainsAny(value, `",\`) && strings.IndexFunc(value, unicode.IsSpace) < 0 {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
