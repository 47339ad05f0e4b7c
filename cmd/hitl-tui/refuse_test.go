package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// TestRefusalsAreEnvelopes: whichever command refuses with --json, what reads its output finds an envelope with the code that
// is the exit code's, and people are told on standard error all the same.
func TestRefusalsAreEnvelopes(t *testing.T) {
	p := newProgram(t, map[string]string{"text.db": "this is no database, and long enough to be looked at as one\n", "bad.yaml": "reviewer: [1]\n"})
	envelope := compileStrictly(t, allPrinted()[0].text(t))
	refused := func(code string, args ...string) {
		t.Helper()
		exit := p.run(args...)
		line := strings.Join(args, " ")
		if exit != desk.ExitCode(code) || strings.Count(p.stdout, "\n") != 1 {
			t.Errorf("%s exits %d and prints %q, want %d and an envelope", line, exit, p.stdout, desk.ExitCode(code))
			return
		}
		holdTo(t, envelope, line, []byte(p.stdout))
		var e wire.Envelope
		if err := json.Unmarshal([]byte(p.stdout), &e); err != nil || e.Success || e.Error == nil || e.Error.Code != code || e.Error.Message == "" {
			t.Errorf("%s refuses with %s, want %s (%v)", line, p.stdout, code, err)
		}
	}
	for _, c := range referenced() {
		refused(desk.CodeUsage, c.Name(), "--json", "--no-such-option")
		refused(desk.CodeUsage, c.Name(), "--no-such-option", "--json")
	}
	for _, line := range []string{"show", "history", "claim", "release", "wait", "cancel", "diff", "events", "audit", "export", "delete --yes", "resume", "fork --step 1"} {
		words := strings.Fields(line)
		args := append(append(words[:1:1], "nowhere"), words[1:]...)
		if words[0] == "diff" {
			args = append(args, "1", "2")
		}
		refused(desk.CodeNotFound, append(args, "--json")...)
	}
	refused(desk.CodeUsage, "frobnicate", "--json")
	refused(desk.CodeUsage, "threads", "--json", "-c", "bad.yaml")
	refused(desk.CodeNotFound, "validate", "nowhere.yaml", "--json")
	refused(desk.CodeStoreUnavailable, "threads", "--json", "--store", "sqlite:text.db")
	if !strings.HasPrefix(p.stderr, "hitl-tui: ") {
		t.Errorf("nothing is told to people: %q", p.stderr)
	}

	p.run("threads", "--limit", "none")
	if p.stdout != "" {
		t.Errorf("without --json a refusal prints %q", p.stdout)
	}
	p.run("threads", "--", "--json")
	if p.stdout != "" {
		t.Errorf("--json behind -- is no option, and it prints %q", p.stdout)
	}
}
