package server

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// TestRemediesNameNoFlags: what a code advises by itself can be done over HTTP.
func TestRemediesNameNoFlags(t *testing.T) {
	s := &Server{wording: wording()}
	for _, code := range desk.Codes() {
		text := s.overHTTP(desk.Explain(&desk.Error{Code: code, Message: "x"}))
		if FlagIn(text) != "" {
			t.Errorf("%s: %s", code, text)
		}
	}
	for cli, http := range map[string]string{
		"if its runner died, `hitl-tui resume t-1 --wait`, or `hitl-tui sweep --carry-on` after 15 s, carries on": "if its runner died, POST /v1/threads/t-1/resume without an action, after 15 s, carries on",
		"a question is open; tag failed, too: --carry-on runs it again and answers nothing":                       "a question is open; tag failed, too: `hitl-tui resume THREAD --carry-on` on the server's host runs it again and answers nothing",
		"there is no step 9: `hitl-tui history t-1` lists its steps":                                              "there is no step 9: GET /v1/threads/t-1/history lists its steps",
		"no such open question \"x\"; open are a: `hitl-tui show` lists the open questions":                       "no such open question \"x\"; open are a: GET /v1/threads/ID lists the open questions",
		"team.csv has no graph \"B\"; it has A: `hitl-tui validate team.csv` names its graphs":                    "team.csv has no graph \"B\"; it has A",
		"name one with --interrupt": "name one with interrupt_id",
	} {
		if got := s.overHTTP(cli); got != http {
			t.Errorf("%s\nis %s\nwant %s", cli, got, http)
		}
	}
}

var (
	quoted = regexp.MustCompile("`[^`]*`")
	flags  = regexp.MustCompile(`(?:^|[\s(])--[a-z][a-z-]*`)
)

// FlagIn is a flag of resume or run that a text names outside of a command; "" for none. Those of serve itself are for
// whoever runs the server.
func FlagIn(text string) string {
	for _, found := range flags.FindAllString(quoted.ReplaceAllString(text, ""), -1) {
		if flag := strings.TrimSpace(found); flag != "--read-only" && flag != "--store" {
			return flag
		}
	}
	return ""
}
