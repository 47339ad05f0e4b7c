package examples_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAgentsActOnce runs each agent twice with the same answers, as happens when the machine fails between what an agent
// did and the step that holds it. The second run may change nothing, and gives the same result.
func TestAgentsActOnce(t *testing.T) {
	for _, test := range []struct {
		needs   []string
		program string
		request string
		say     string // by the second run
	}{
		{[]string{"python3"}, "invoice_agent.py",
			`{"idempotency_key":"k1","input":{"number":"7","supplier":"Kontor","amount":42,"book":"book.csv"},"prior_output":{"notes":[]},
			"prior_interrupt_ids":[],"feedback":{},"discarded":{},"resume_inputs":{"pay":{"action":"approve","by":"ana"},"budget":{"action":"choose","value":"research"}}}`,
			"this payment was booked before the program was interrupted"},
		{[]string{"sh", "awk", "sed", "tr", "mkdir", "mv"}, "cleanup_agent.sh",
			`{"idempotency_key":"k1","prior_output":{"files":"a.csv b.csv"},
			"resume_inputs":{"clear":{"action":"approve","by":"ana"},"how":{"action":"choose","value":"archive"}}}`, ""},
	} {
		t.Run(test.program, func(t *testing.T) {
			play{Needs: test.needs}.need(t)
			folder := play{Files: map[string]string{"a.csv": "a", "b.csv": "b"}}.lay(t)
			agent := func() (stdout, stderr string) {
				var out, progress bytes.Buffer
				cmd := exec.CommandContext(t.Context(), test.needs[0], test.program)
				cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = folder, strings.NewReader(test.request), &out, &progress
				cmd.Env = append(os.Environ(), "FOLDER=.", "DAYS=30", "HITL_IDEMPOTENCY_KEY=k1")
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v: %s", err, &progress)
				}
				return out.String(), progress.String()
			}
			before := contents(t, folder)
			result, _ := agent()
			after := contents(t, folder)
			if cmp.Equal(before, after) {
				t.Fatal("the first run did nothing")
			}
			again, said := agent()
			if diff := cmp.Diff(after, contents(t, folder)); diff != "" {
				t.Errorf("the second run changed files (-first +second):\n%s", diff)
			}
			if again != result || !strings.Contains(said, test.say) {
				t.Errorf("first run %s, second run %s, which said %q", result, again, said)
			}
		})
	}
}

// TestShellAgentFails shows that what the agent cannot do is a failure of its node and not an empty result.
func TestShellAgentFails(t *testing.T) {
	play{Needs: []string{"sh", "awk", "sed", "find", "sort", "tr"}}.need(t)
	cmd := exec.CommandContext(t.Context(), "sh", "cleanup_agent.sh")
	cmd.Dir, cmd.Stdin = play{}.lay(t), strings.NewReader(`{"prior_output":null,"resume_inputs":{}}`)
	cmd.Env = append(os.Environ(), "FOLDER=missing", "DAYS=30")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || len(out) > 0 || !strings.Contains(string(exit.Stderr), "missing") {
		t.Errorf("error %v, output %q", err, out)
	}
}

// contents are the files of a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		all[strings.TrimPrefix(name, folder)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
