package redact

import (
	"encoding/json"
	"regexp"
	"strings"
)

// form is what one kind of credential looks like wherever it stands: long or marked enough not to hit prose.
type form struct {
	begins  []string // one of these is in every match, so that a text without them need not be searched
	pattern *regexp.Regexp
}

var forms = []form{
	{[]string{"-----BEGIN "}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)},
	{[]string{"eyJ"}, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)}, // JSON web token
	{[]string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},                    // AWS
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"},
		regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bgithub_pat_[A-Za-z0-9_]{30,}\b`)}, // GitHub
	{[]string{"glpat-"}, regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},                           // GitLab
	{[]string{"sk-"}, regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`)},                                 // model providers
	{[]string{"k_live_", "k_test_"}, regexp.MustCompile(`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b`)}, // Stripe
	{[]string{"xox"}, regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`)},                        // Slack
	{[]string{"AIza"}, regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}`)},                                // Google
	{[]string{"npm_"}, regexp.MustCompile(`\bnpm_[A-Za-z0-9]{30,}\b`)},                               // npm
}

// What follows a word for it: a header's scheme, the user of an address, the option of a program.
var (
	scheme  = regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{12,})`)
	address = regexp.MustCompile(`(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:)([^\s/@]+)(@)`)
	option  = regexp.MustCompile(`(^|[\s"'\[,])(--?([A-Za-z][A-Za-z0-9-]*)["']?[\s,]+)("[^"\n]*"|'[^'\n]*'|[^\s"'\-][^\s"']*)`)
	cookies = regexp.MustCompile(`(?i)(\bcookie:[ \t]*)[^\r\n"']+`)
)

// Text masks secrets in plain text: known forms of credentials, what follows Bearer and Basic, the password of an
// address, what is given to an option or assigned to a name that is secret (PASSWORD=...), and the patterns. A text
// that is a JSON object or list is masked as such. Without a secret s itself is returned.
func (r Rules) Text(s string) string {
	if r.off || len(s) < 3 {
		return s
	}
	if t := strings.TrimSpace(s); t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t)) {
		return string(r.JSON(json.RawMessage(s)))
	}
	return r.plain(s)
}

// plain masks a text that is no JSON.
func (r Rules) plain(s string) string {
	for _, f := range forms {
		for _, begin := range f.begins {
			if strings.Contains(s, begin) {
				s = f.pattern.ReplaceAllLiteralString(s, Mask)
				break
			}
		}
	}
	if containsFold(s, "bearer") || containsFold(s, "basic") {
		s = scheme.ReplaceAllString(s, "${1}"+Mask)
	}
	if strings.Contains(s, "://") && strings.Contains(s, "@") {
		s = address.ReplaceAllString(s, "${1}"+Mask+"${3}")
	}
	if containsFold(s, "cookie:") {
		s = cookies.ReplaceAllString(s, "${1}"+Mask)
	}
	s = r.assignments(s)
	if strings.Contains(s, "-") {
		s = r.options(s)
	}
	for _, p := range r.patterns {
		s = p.ReplaceAllLiteralString(s, Mask)
	}
	return s
}

// options masks what follows --password and the like.
func (r Rules) options(s string) string {
	var b strings.Builder
	done := 0
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '-')
		if i < 0 {
			break
		}
		from := max(at+i-1, 0)
		end := from + min(len(s)-from, 512)
		at += i + 1
		if at == len(s) || s[at] != '-' && !inName(s[at]) || from < done {
			continue
		}
		m := option.FindStringSubmatchIndex(s[from:end])
		if m == nil || m[0] != 0 || !r.Secret(s[from+m[6]:from+m[7]]) || strings.HasPrefix(s[from+m[8]:], Mask) {
			continue
		}
		b.WriteString(s[done : from+m[8]])
		b.WriteString(Mask)
		done = from + m[9]
		at = done
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// assignments masks the values of NAME=VALUE and NAME: VALUE; which names count Secret decides.
func (r Rules) assignments(s string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		name := nameBefore(s, i)
		if name == "" || !r.Secret(name) {
			continue
		}
		from, to := valueAfter(s, i+1, name)
		if from == to || from < done || strings.HasPrefix(s[from:], Mask) {
			continue
		}
		b.WriteString(s[done:from])
		b.WriteString(Mask)
		done = to
		i = to - 1
	}
	if done == 0 {
		return s
	}
	return b.String() + s[done:]
}

// nameBefore is the name that stands before an = or : at i, quoted or not, also in a text that is quoted itself.
func nameBefore(s string, i int) string {
	for i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
		i--
	}
	if i > 0 && (s[i-1] == '"' || s[i-1] == '\'') {
		i--
		for i > 0 && s[i-1] == '\\' {
			i--
		}
	}
	end := i
	for i > 0 && end-i < 100 && inName(s[i-1]) {
		i--
	}
	return strings.TrimLeft(s[i:end], "0123456789_-")
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// valueAfter is where the value begins and ends that is assigned from i on; both are the same without one.
func valueAfter(s string, i int, name string) (from, to int) {
	for i < len(s) && (s[i] == '=' || s[i] == '>') { // of := and => and ==
		i++
	}
	for i < len(s) && strings.IndexByte(" \t\r\n", s[i]) >= 0 {
		i++
	}
	from = i
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		return from, quoted(s, i, i > from)
	}
	i = from
	if words := split(name); words[len(words)-1] == "authorization" {
		return credentials(s, from)
	}
	for i < len(s) && strings.IndexByte(" \t\r\n\"',;&", s[i]) < 0 {
		i++
	}
	if i == from+6 && strings.EqualFold(s[from:i], "bearer") || i == from+5 && strings.EqualFold(s[from:i], "basic") {
		return credentials(s, from)
	}
	return from, i
}

// quoted is the end of what the quote at i opens: at the same quote, else at the end of the line. Inside a text that is
// quoted itself a quote with a backslash before it closes.
func quoted(s string, i int, escaped bool) int {
	mark := s[i]
	for i++; i < len(s) && s[i] != '\n'; i++ {
		switch {
		case s[i] == mark:
			return i + 1
		case s[i] == '\\' && !escaped && i+1 < len(s) && s[i+1] != '\n':
			i++
		}
	}
	return i
}

// credentials are what follows the scheme of an Authorization header, or all of it without one: to the end of its line.
func credentials(s string, from int) (int, int) {
	to := from
	for to < len(s) && strings.IndexByte("\r\n\"'", s[to]) < 0 {
		to++
	}
	if word, rest, found := strings.Cut(s[from:to], " "); found && strings.TrimSpace(rest) != "" && isWord(word) {
		return to - len(strings.TrimLeft(rest, " ")), to
	}
	return from, to
}

func isWord(s string) bool {
	return strings.IndexFunc(s, func(c rune) bool { return c != '-' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') }) < 0
}

// containsFold reports whether s holds word, which is lower case, in any case.
func containsFold(s, word string) bool {
	upper := strings.ToUpper(word[:1])[0]
	for i := 0; i+len(word) <= len(s); i++ {
		if (s[i] == word[0] || s[i] == upper) && strings.EqualFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}
