package server

import (
	"regexp"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// wording is what the command line's words in a remedy are over HTTP, the longer before the shorter. Remedies are written
// once, for the command line; what can only be done on the server's host keeps its command.
func wording() []phrase {
	return []phrase{
		{regexp.MustCompile("`hitl-tui resume (\\S+) --wait`, or `hitl-tui sweep --carry-on` after 15 s,"), "POST /v1/threads/$1/resume without an action, after 15 s,"},
		{regexp.MustCompile("`hitl-tui resume (\\S+) --wait`"), "POST /v1/threads/$1/resume without an action"},
		{regexp.MustCompile("`hitl-tui history (\\S+)`"), "GET /v1/threads/$1/history"},
		{regexp.MustCompile("`hitl-tui threads`"), "GET /v1/threads"},
		{regexp.MustCompile("`hitl-tui show`"), "GET /v1/threads/ID"},
		{regexp.MustCompile(": `hitl-tui validate [^`]*` names its graphs"), ""}, // they are told before it
		{regexp.MustCompile("`hitl-tui actions`"), "GET /openapi.json"},
		{regexp.MustCompile(`--steal answers`), "steal: true in the body answers"},
		{regexp.MustCompile(`--interrupt\b`), "interrupt_id"},
		{regexp.MustCompile(`--if-version\b`), "if_version"},
		{regexp.MustCompile(`another --thread\b`), "another thread_id"},
		{regexp.MustCompile(`(^|[^\w-])--carry-on runs`), "$1`hitl-tui resume THREAD --carry-on` on the server's host runs"},
	}
}

// phrase is some words of the command line and those of HTTP.
type phrase struct {
	cli  *regexp.Regexp
	http string
}

// overHTTP says what is to be done as a client of HTTP does it.
func (s *Server) overHTTP(text string) string {
	for _, p := range s.wording {
		text = p.cli.ReplaceAllString(text, p.http)
	}
	return text
}

// reworded is a problem in HTTP's words.
func (s *Server) reworded(p wire.Problem) wire.Problem {
	p.Detail = s.overHTTP(p.Detail)
	if p.Error != nil {
		e := *p.Error
		e.Message = s.overHTTP(e.Message)
		p.Error = &e
	}
	return p
}
