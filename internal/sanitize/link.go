package sanitize

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Link makes a link safe to show. The result is the text of the link followed, where it differs, by the target in
// angle brackets: a target is never hidden behind a text. suspicious is true when somebody may be misled:
//
//   - the text looks like an address or a host, and is of another host than the target
//   - the host of the target is in punycode, or mixes scripts (a Latin word with one Cyrillic letter)
//   - the target hides its host behind a user name (https://bank.example@evil.example)
//   - the target is neither http, https, mailto nor relative, as javascript: and file: are
//   - text or target needed sanitising: no honest link has controls in it
func Link(text, target string) (safe string, suspicious bool) {
	text = strings.TrimSpace(text)
	target = strings.TrimSpace(target)
	cleanText, cleanTarget := Line(text), Line(target)
	suspicious = cleanText != text || cleanTarget != target || badTarget(target) || differs(text, target)
	switch {
	case cleanText == "" || cleanText == cleanTarget:
		return cleanTarget, suspicious
	case !suspicious && plainForm(cleanText) == plainForm(cleanTarget):
		return cleanText, false
	case cleanTarget == "":
		return cleanText, suspicious
	}
	return cleanText + " <" + cleanTarget + ">", suspicious
}

func badTarget(target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return true
	}
	switch strings.ToLower(u.Scheme) {
	case "":
		return u.Host != "" && badHost(u.Hostname())
	case "http", "https":
		return u.User != nil || u.Host == "" || badHost(u.Hostname())
	case "mailto":
		_, host, _ := strings.Cut(u.Opaque, "@")
		return badHost(host)
	}
	return true
}

// badHost says whether a host may be taken for another by its letters.
func badHost(host string) bool {
	for _, label := range strings.Split(strings.ToLower(host), ".") {
		if strings.HasPrefix(label, "xn--") || mixed(label) {
			return true
		}
	}
	return false
}

// mixed says whether a label has letters of Latin and of a script with letters that look the same.
func mixed(label string) bool {
	var latin, alike bool
	for _, r := range label {
		latin = latin || unicode.Is(unicode.Latin, r)
		alike = alike || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee)
	}
	return latin && alike
}

// differs says whether the text names an address of another host than the target's.
func differs(text, target string) bool {
	shown := hostIn(text)
	if shown == "" {
		return false
	}
	u, err := url.Parse(target)
	if err != nil {
		return true
	}
	host := u.Hostname()
	if u.Scheme == "mailto" {
		_, host, _ = strings.Cut(u.Opaque, "@")
		host, _, _ = strings.Cut(host, "?")
	}
	if host == "" {
		return u.Scheme != "" // a relative target leads to no other host
	}
	return trimWWW(shown) != trimWWW(strings.ToLower(host))
}

func trimWWW(host string) string { return strings.TrimPrefix(host, "www.") }

var (
	address  = regexp.MustCompile(`(?i)\b(?:https?|ftp)://(?:[^\s/@]*@)?([^\s/:?#<>"']+)`)
	bareHost = regexp.MustCompile(`(?i)^(?:[^\s@/]+@)?((?:[\p{L}\p{N}-]+\.)+[\p{L}]{2,})(?:[/:?#]\S*)?$`)
)

// hostIn is the host that a text shows to a reader, "" when it shows none. Words with a dot in them count when they
// end like a host: file names would otherwise be taken for hosts, so endings of usual files do not.
func hostIn(text string) string {
	if m := address.FindStringSubmatch(text); m != nil {
		return strings.ToLower(m[1])
	}
	if m := bareHost.FindStringSubmatch(text); m != nil {
		host := strings.ToLower(m[1])
		switch host[strings.LastIndexByte(host, '.')+1:] {
		case "md", "txt", "go", "py", "json", "yaml", "yml", "csv", "html", "pdf", "log", "toml", "js", "ts", "sh", "rs", "sql":
			if !strings.ContainsAny(text, "/:@") {
				return ""
			}
		}
		return host
	}
	return ""
}

// plainForm is an address without what does not change where it leads.
func plainForm(s string) string {
	s = strings.ToLower(s)
	for _, prefix := range []string{"https://", "http://", "mailto:"} {
		s = strings.TrimPrefix(s, prefix)
	}
	return strings.TrimSuffix(trimWWW(s), "/")
}
