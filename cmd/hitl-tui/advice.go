package main

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// line is a command line to be entered next, ready for a shell. It names store and configuration where this one did;
// what stands in the environment or the configuration is found again.
func (a *app) line(args ...string) string {
	words := []string{"hitl-tui"}
	if a.flags.store != "" {
		words = append(words, "--store", withoutPassword(a.flags.store))
	}
	if a.flags.config != "" {
		words = append(words, "--config", a.flags.config)
	}
	words = append(words, args...)
	for i, word := range words {
		words[i] = shellQuoted(sanitize.Line(word))
	}
	return strings.Join(words, " ")
}

// withoutPassword masks the password of a URL: what is printed may end in a log.
func withoutPassword(store string) string {
	if u, err := url.Parse(store); err == nil && u.User != nil {
		return u.Redacted()
	}
	return store
}

// shellQuoted is a word as a POSIX shell takes it.
func shellQuoted(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// fleeting reports whether the store ends with this program, so that no other command finds its threads.
func (a *app) fleeting() bool { return a.store == "memory:" || a.store == "none:" }

// sayNext tells how a thread that has not ended can be gone on with.
func (a *app) sayNext(thread, status string, open []desk.Question) {
	switch {
	case a.fleeting() && (len(open) > 0 || status == "stalled" || status == "failed" || status == "sleeping"):
		a.say("nothing of it is kept: the store %s ends with this program; name another one with --store", a.store)
	case len(open) > 1:
		a.say("answer one with `%s ACTION`, or open the desk with `%s`", a.line("resume", thread, "--interrupt", open[0].Address), a.line())
	case len(open) == 1:
		a.say("answer with `%s ACTION`, or open the desk with `%s`", a.line("resume", thread), a.line())
	case status == "stalled":
		a.say("what was done and decided is kept; `%s` carries on", a.line("resume", thread))
	case status == "failed":
		a.say("`%[1]s` tries it again, with --upgrade as the file is now", a.line("resume", thread))
	}
}
