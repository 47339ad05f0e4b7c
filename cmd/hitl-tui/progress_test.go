package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// program is the program in this process, with a folder as its home and working directory.
type program struct {
	t      *testing.T
	errTTY bool
	width  int // of the terminal; 0 for none
	stdout string
	stderr string
}

func newProgram(t *testing.T, files map[string]string) *program {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &program{t: t}
}

func (p *program) run(args ...string) int {
	p.t.Helper()
	home, err := os.Getwd()
	if err != nil {
		p.t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "HITL_TUI_STORE": "sqlite:" + filepath.Join(home, "desk.db"), "HITL_TUI_REVIEWER": "tester"}
	var out, told bytes.Buffer
	exit := run(args, &machine{in: os.Stdin, out: &out, err: &told, errTTY: p.errTTY, outTTY: p.width > 0, width: p.width, getenv: func(name string) string { return env[name] }})
	p.stdout, p.stderr = out.String(), told.String()
	return exit
}

const talking = `workflow: talking
start: [items]
nodes:
  items: {map: "['a']", do: {say: {shell: "printf 'one\\033[31m\\ntwo'>&2; test -e again || { touch again; exit 3; }", retry_policy: {max_attempts: 2, initial_delay: 10ms, jitter: 0}}}, then: ask}
  ask: {human: approval, message: Go on?, then: fall}
  fall: {shell: "echo api_key=sk-1234567890abcdefgh >&2; exit 4"}
`

// TestProgress: on a terminal what runs, what programs say, failed attempts and their waits are shown, all of it, made
// safe, masked, and under the address of the node.
func TestProgress(t *testing.T) {
	p := newProgram(t, map[string]string{"talking.yaml": talking})
	p.errTTY = true
	if exit := p.run("run", "talking.yaml", "--thread", "talk-1"); exit != 0 {
		t.Fatalf("exit %d: %s", exit, p.stderr)
	}
	want := []string{
		"  items running", "  items/0/say running", "  items/0/say: one^[[31m", "  items/0/say: two",
		"  items/0/say attempt 1 failed, the next in 10ms: /bin/sh: exit code 3: one^[[31m",
		"  items/0/say running", "  items/0/say: one^[[31m", "  items/0/say: two", "  items/0/say completed", "  items completed",
		"  ask running", "  ask waiting",
	}
	if diff := cmp.Diff(want, progressLines(p.stderr)); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if exit := p.run("resume", "talk-1", "approve"); exit != 1 {
		t.Fatalf("exit %d: %s", exit, p.stderr)
	}
	want = []string{
		"  ask completed", "  fall running", "  fall: api_key=[redacted]", "  fall failed: /bin/sh: exit code 4: api_key=[redacted]",
	}
	if diff := cmp.Diff(want, progressLines(p.stderr)); diff != "" {
		t.Errorf("resume (-want +got):\n%s", diff)
	}
}

func progressLines(text string) []string {
	return regexp.MustCompile(`(?m)^  .*$`).FindAllString(text, -1)
}

// TestProgressIsForPeople: without a terminal, with --quiet and with --json nothing of it is shown.
func TestProgressIsForPeople(t *testing.T) {
	p := newProgram(t, map[string]string{"talking.yaml": talking})
	for name, args := range map[string][]string{"quiet": {"--quiet"}, "json": {"--json"}, "none": nil} {
		p.errTTY = name != "none"
		if exit := p.run(append([]string{"run", "talking.yaml"}, args...)...); exit != 0 {
			t.Fatalf("%s: exit %d: %s", name, exit, p.stderr)
		}
		if lines := progressLines(p.stderr); lines != nil {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

func TestTold(t *testing.T) {
	for want, e := range map[string]desk.Event{
		" running":                               {Status: "RUNNING"},
		": a b":                                  {Text: "a b"},
		": a\n: b":                               {Text: "a\nb\n"},
		": a^[]0;x^G":                            {Text: "a\x1b]0;x\a"},
		" failed: a":                             {Failed: true, Text: "a\nb", Attempt: 3},
		" attempt 2 failed, the next in 1.5s: a": {Failed: true, Text: "a", Attempt: 2, Retried: true, RetryIn: 1500 * time.Millisecond},
		"":                                       {},
	} {
		if got := strings.Join(told(e), "\n"); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
}

// TestNextCommandLine: what is told to be entered goes into a shell as it is.
func TestNextCommandLine(t *testing.T) {
	for _, tc := range []struct {
		flags globals
		args  []string
		want  string
	}{
		{globals{}, nil, "hitl-tui"},
		{globals{}, []string{"resume", "Año_1.b:c@d+e"}, "hitl-tui resume Año_1.b:c@d+e"},
		{globals{}, []string{"resume", "bad id/.."}, "hitl-tui resume 'bad id/..'"},
		{globals{}, []string{"resume", "it's"}, `hitl-tui resume 'it'\''s'`},
		{globals{}, []string{"resume", ""}, "hitl-tui resume ''"},
		{globals{}, []string{"resume", "$(rm -r x);`a`\""}, "hitl-tui resume '$(rm -r x);`a`\"'"},
		{globals{}, []string{"resume", "~x"}, "hitl-tui resume '~x'"},
		{globals{store: "sqlite:/a b.db", config: "c.yaml"}, []string{"resume", "t"}, "hitl-tui --store 'sqlite:/a b.db' --config c.yaml resume t"},
		{globals{store: "postgres://ana:secret@db/desk"}, []string{"resume", "t"}, "hitl-tui --store postgres://ana:xxxxx@db/desk resume t"},
	} {
		if got := (&app{flags: tc.flags}).line(tc.args...); got != tc.want {
			t.Errorf("%v %q: %s, want %s", tc.flags, tc.args, got, tc.want)
		}
	}
}
