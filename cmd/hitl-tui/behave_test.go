package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

const titled = `workflow: a-rather-long-name-of-a-workflow
nodes:
  ask: {human: approval, message: "Shall the notes of the release, with a very long title in them, be published now or never?", actions: [approve, reject], then: last}
  last: {set: {gone: true}}
`

// TestTablesFitTheTerminal: on a terminal no line of a table is wider, whatever its width, and rows stay named; into a pipe all
// goes whole.
func TestTablesFitTheTerminal(t *testing.T) {
	p := newProgram(t, map[string]string{"titled.yaml": titled})
	for _, thread := range []string{"a-thread-that-a-person-named", "thread-1"} {
		p.run("run", "titled.yaml", "--thread", thread, "-q")
	}
	p.run("resume", "thread-1", "approve", "-q")
	for _, line := range []string{"threads", "questions", "history thread-1", "audit", "events", "config", "actions", "themes", "doctor", "keys"} {
		p.width = 0
		p.run(splitArgs(line)...)
		if strings.Contains(p.stdout, "…") {
			t.Errorf("%s is cut without a terminal:\n%s", line, p.stdout)
		}
		for _, p.width = range []int{1, 20, 40, 80, 200} {
			p.run(splitArgs(line)...)
			for text := range strings.Lines(p.stdout) {
				if w := ansi.StringWidth(strings.TrimRight(text, "\n")); w > p.width && p.width >= 40 || w > max(p.width, 40) {
					t.Errorf("%s at %d columns has a line of %d: %s", line, p.width, w, text)
				}
			}
		}
	}
	p.width = 40
	p.run("threads")
	if !strings.Contains(p.stdout, "thread-1") || !strings.Contains(p.stdout, "AGE") {
		t.Errorf("a narrow list names no threads:\n%s", p.stdout)
	}
	p.width = 80
	p.run("keys")
	if strings.Contains(p.stdout, "…") {
		t.Error("what a key does is cut")
	}
}

// TestQuiet: with --quiet a command that succeeds prints its data and nothing else.
func TestQuiet(t *testing.T) {
	t.Parallel()
	p := newProcesses(t, map[string]string{"full.yaml": forTheSchema, "asking.yaml": asking, "rules.yaml": "reviewer: ana\n", "broken.yaml": asking})
	p.run(0, "run", "asking.yaml", "--thread", "stays")
	p.run(0, "export", "stays", "-o", "out.json")
	for _, one := range allPrinted() {
		if one.command == "cancel" { // nothing runs here
			continue
		}
		cmd := p.command(append(splitArgs(one.args), "--quiet")...)
		var told strings.Builder
		cmd.Stderr = &told
		if err := cmd.Run(); err != nil || told.Len() > 0 {
			t.Errorf("%s --quiet: %v, and says %s", one.args, err, told.String())
		}
	}
}

// TestExitCodes runs the real program once for each exit code that it has.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	p := newProcesses(t, map[string]string{
		"asking.yaml": asking, "fails.yaml": "workflow: fails\nnodes: {a: {fail: no tea}}\n", "slow.yaml": "workflow: slow\nnodes: {a: {exec: [sleep, '60']}}\n",
		"plain.yaml": "workflow: plain\nnodes: {a: {set: {a: 1}}}\n", "broken.yaml": "workflow: broken\n", "text.db": "this is no database, and long enough to be looked at as one\n",
	})
	for _, c := range []struct {
		exit int
		args string
	}{
		{0, "run plain.yaml"}, {0, "run plain.yaml --exit-code"}, {0, "run asking.yaml --thread t-1"}, {10, "run asking.yaml --thread t-2 --exit-code"},
		{0, "resume t-1 reject"}, {11, "resume t-2 reject --exit-code"}, {10, "wait t-3 --for waiting --exit-code"},
		{1, "run fails.yaml --thread t-4"}, {1, "wait t-4"}, {2, "run broken.yaml"}, {2, "threads --limit none"}, {2, "frobnicate"}, {2, "resume t-3 frobnicate"},
		{2, `resume t-3 retry`}, {2, `resume t-3 approve -d {`}, {3, "show nowhere"}, {3, "run nowhere.yaml"}, {4, "resume t-1 approve"}, {4, "run asking.yaml --thread t-1"},
		{4, "cancel t-3"}, {5, "threads --store sqlite:text.db"}, {124, "wait t-3 --timeout 10ms"},
	} {
		if strings.Contains(c.args, "wait t-3 --for") {
			p.run(0, "run", "asking.yaml", "--thread", "t-3")
		}
		p.run(c.exit, splitArgs(c.args)...)
	}
	for signal, exit := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		f := p.follow("events", "--follow", "--json")
		f.event()
		cmd := p.command("run", "slow.yaml")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for f.event().ThreadID == nil {
		}
		cmd.Process.Signal(signal)
		cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != exit {
			t.Errorf("%s exits %d, want %d", signal, got, exit)
		}
	}
}

// TestManuals: every command has a page with all that a page has, and what reads pages finds no fault in them.
func TestManuals(t *testing.T) {
	p := newProgram(t, nil)
	if exit := p.run("man", "--output", "pages"); exit != 0 {
		t.Fatalf("exit %d: %s", exit, p.stderr)
	}
	pages, err := filepath.Glob("pages/*.1")
	if err != nil || len(pages) != len(referenced())+1 {
		t.Fatalf("%d pages of %d commands (%v)", len(pages), len(referenced()), err)
	}
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS OF EVERY COMMAND", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT"} {
			if !strings.Contains(string(raw), `.SH "`+part+`"`+"\n") {
				t.Errorf("%s has no %s", page, part)
			}
		}
		if groff, err := exec.LookPath("groff"); err == nil {
			if out, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", page).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: %v %s", page, err, out)
			}
		}
	}
	if exit := p.run("man", "nonsense"); exit != 2 {
		t.Errorf("a page of nothing exits %d", exit)
	}
}

// TestBashCompletes runs the script for bash as bash does, for the threads, actions and workflows of a store.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is missing")
	}
	p := newProcesses(t, map[string]string{"asking.yaml": asking, "config.yaml": "workflows: .\n"})
	p.run(0, "run", "asking.yaml", "--thread", "fix-tea")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if !strings.Contains(p.run(0, "completion", shell), "hitl-tui") {
			t.Errorf("no script for %s", shell)
		}
	}
	// Of the package bash-completion the script needs one function.
	const asks = `_get_comp_words_by_ref() { while [ $# -gt 0 ]; do case $1 in cur) cur=${COMP_WORDS[COMP_CWORD]};; prev) prev=${COMP_WORDS[COMP_CWORD-1]};; words) words=("${COMP_WORDS[@]}");; cword) cword=$COMP_CWORD;; esac; shift; done; }
__ltrim_colon_completions() { :; }
compopt() { :; } # is for bash itself, which asks by a key
source <(hitl-tui completion bash)
COMP_WORDS=($1); [[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]}-1)); COMP_LINE=$1; COMP_POINT=${#1}; COMP_TYPE=9
__start_hitl-tui
printf '%s\n' "${COMPREPLY[@]}"`
	for line, want := range map[string]string{
		"hitl-tui resu": "resume", "hitl-tui show f": "fix-tea", "hitl-tui resume fix-tea app": "approve", "hitl-tui events fi": "fix-tea",
		"hitl-tui -c config.yaml run ask": "asking", "hitl-tui threads --status interr": "interrupted", "hitl-tui man eve": "events",
	} {
		cmd := exec.Command(bash, "-c", asks, "bash", line)
		model := p.command()
		cmd.Dir, cmd.Env = model.Dir, model.Env
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s is completed as %q, want %s (%v)", line, got, want, err)
		}
	}
}
