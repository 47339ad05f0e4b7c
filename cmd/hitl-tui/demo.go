package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/examples"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	cmd := a.command("demo", "Open the desk on bundled workflows",
		`Opens the desk on a throw-away store and working folder, which it fills by really running the bundled workflows up to
their questions. Whatever you decide is carried out in that folder. It is deleted when the desk is left, unless --keep
is given or there is no terminal.`,
		"hitl-tui demo\nhitl-tui demo --keep", cobra.NoArgs, nil)
	a.accessibleFlag(cmd)
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the folder and say where it is")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		folder, err := os.MkdirTemp("", "hitl-tui-demo-")
		if err != nil {
			return err
		}
		keep = keep || !a.interactive() && !a.flags.accessible
		if !keep {
			defer os.RemoveAll(folder)
		}
		demo := &demo{app: a, folder: folder}
		if err := demo.run(cmd.Context()); err != nil {
			return err
		}
		if keep {
			a.say("the demo is kept in %s; go on with\n  hitl-tui --store %s", folder, demo.store())
		}
		return nil
	}
	return cmd
}

// demo fills a throw-away folder and opens the desk on it.
type demo struct {
	*app
	folder string
}

func (m *demo) store() string           { return "sqlite:" + filepath.Join(m.folder, "desk.db") }
func (m *demo) path(p ...string) string { return filepath.Join(append([]string{m.folder}, p...)...) }

func (m *demo) run(ctx context.Context) error {
	if err := m.lay(); err != nil {
		return fmt.Errorf("lay out the demo in %s: %w", m.folder, err)
	}
	hasGit := m.repository(ctx)
	own, err := m.setup() // the demo looks and is handled as the user's own desk
	if err != nil {
		return err
	}
	d, err := m.openWith(ctx, setup{
		store: m.store(), state: m.path("state"), workflows: []string{m.path("workflows")}, reviewer: m.flags.reviewer, screen: own.screen,
	}, openWrite)
	if err != nil {
		return err
	}
	defer d.close()
	if !hasGit {
		m.say("git is not installed: the release notes are left out of the demo")
	}
	if err := m.fill(ctx, d, hasGit); err != nil {
		return err
	}
	if !m.interactive() && !m.accessible(own) {
		page, err := d.Threads(ctx, desk.Query{Tab: desk.All, Limit: 100})
		if err != nil {
			return err
		}
		m.printThreads(page.Threads, "")
		return nil
	}
	return m.showDesk(ctx, d)
}

// lay writes the bundled files, the two configurations an ops-change compares, and old exports to clear away.
func (m *demo) lay() error {
	for _, folder := range []string{"workflows/exports", "work", "repository", "prod-eu", "prod-us", "staging"} {
		if err := os.MkdirAll(m.path(folder), 0o700); err != nil {
			return err
		}
	}
	if err := os.CopyFS(m.path("workflows"), examples.Files); err != nil {
		return err
	}
	lastYear := time.Now().AddDate(-1, 0, 0)
	for _, name := range []string{"orders-january.csv", "orders-february.csv", "stock.json"} {
		file := m.path("workflows", "exports", name)
		if err := errors.Join(os.WriteFile(file, []byte("an export\n"), 0o600), os.Chtimes(file, lastYear, lastYear)); err != nil {
			return err
		}
	}
	for cluster, size := range map[string][2]string{"prod-eu": {"4", "6"}, "prod-us": {"8", "4"}, "staging": {"1", "1"}} {
		live := "# " + cluster + "\nreplicas = " + size[0] + "\nimage = \"shop:1.41\"\nmemory = \"512Mi\"\n\n[health]\npath = \"/up\"\ninterval = \"5s\"\n"
		proposed := strings.Replace(live, "replicas = "+size[0], "replicas = "+size[1], 1)
		if proposed != live {
			proposed = strings.Replace(proposed, "shop:1.41", "shop:1.42", 1)
		}
		if err := errors.Join(
			os.WriteFile(m.path(cluster, "live.conf"), []byte(live), 0o600),
			os.WriteFile(m.path(cluster, "new.conf"), []byte(proposed), 0o600),
		); err != nil {
			return err
		}
	}
	return nil
}

// repository makes a small git repository with a tag and commits after it; false without git.
func (m *demo) repository(ctx context.Context) bool {
	git, err := exec.LookPath("git")
	if err != nil {
		return false
	}
	do := func(args ...string) bool {
		cmd := exec.CommandContext(ctx, git, args...)
		cmd.Dir = m.path("repository")
		cmd.Env = append(os.Environ(),
			"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=Demo", "GIT_AUTHOR_EMAIL=demo@example.org",
			"GIT_COMMITTER_NAME=Demo", "GIT_COMMITTER_EMAIL=demo@example.org")
		return cmd.Run() == nil
	}
	if !do("init", "-q") || !do("commit", "-q", "--allow-empty", "-m", "Start") || !do("tag", "v1.0") {
		return false
	}
	for _, subject := range []string{
		"Fix a race when two reviewers resume one thread",
		"Make the inbox page independent of the number of threads",
		"Keep the width of titles in Chinese, Japanese and Korean",
		"Let drafts survive a restart",
		"Decide once when a key is held",
	} {
		if !do("commit", "-q", "--allow-empty", "-m", subject) {
			return false
		}
	}
	return true
}

// start is one thread of the demo.
type start struct {
	file    string // of the bundled workflows
	workdir string
	input   map[string]any
}

func (m *demo) starts(hasGit bool) []start {
	all := []start{
		{"article.yaml", "work", map[string]any{"topic": "Tea without ceremony", "words": 12}},
		{"article.yaml", "work", map[string]any{"topic": "Workflows that wait", "words": 40}},
		{"ops-change.yaml", "prod-eu", map[string]any{"cluster": "prod-eu", "live": "live.conf", "proposed": "new.conf"}},
		{"ops-change.yaml", "prod-us", map[string]any{"cluster": "prod-us", "live": "live.conf", "proposed": "new.conf"}},
		{"ops-change.yaml", "staging", map[string]any{"cluster": "staging", "live": "live.conf", "proposed": "new.conf"}},
		{"press-release.csv", "work", map[string]any{"product": "Tea timer", "audience": "offices"}},
		{"support.yaml", "work", map[string]any{"customer": "Ms Ito", "question": "Where is my parcel? It was due on Monday."}},
		{"support.yaml", "work", map[string]any{"customer": "Herr Öztürk", "question": "Can I change the address of order 5512?"}},
		{"cleanup-agent.yaml", "workflows", map[string]any{"folder": "exports"}},
	}
	if _, err := exec.LookPath("python3"); err == nil {
		all = append(all, start{"invoice-agent.yaml", "workflows", map[string]any{"number": "2027-118", "supplier": "Kontor & Söhne", "amount": 4200}})
	} else {
		m.say("python3 is not installed: the invoice agent is left out of the demo")
	}
	if hasGit {
		all = append(all,
			start{"release-notes.yaml", "repository", map[string]any{"since": "v1.0"}},
			start{"release-notes.yaml", "repository", map[string]any{"since": "HEAD"}})
	}
	return append(all,
		start{"expense-triage.yaml", "workflows", map[string]any{"file": "claims.csv", "limit": 5000}},
		start{"onboarding.yaml", "work", map[string]any{"person": "Noor Haddad", "start": "2027-02-01", "manager": "ana"}},
		start{"expense-triage.yaml", "workflows", map[string]any{"file": "claims.csv"}})
}

// fill starts every thread, and sends one back with feedback so that there is a second round to look at.
func (m *demo) fill(ctx context.Context, d *opened, hasGit bool) error {
	for _, s := range m.starts(hasGit) {
		input := make(map[string]json.RawMessage, len(s.input))
		for key, value := range s.input {
			raw, err := json.Marshal(value)
			if err != nil {
				return err
			}
			input[key] = raw
		}
		result, err := d.Start(ctx, desk.StartRequest{File: m.path("workflows", s.file), Input: input, Workdir: m.path(s.workdir)}, false)
		if err != nil {
			return fmt.Errorf("start %s: %w", s.file, err)
		}
		if s.file == "release-notes.yaml" && result.Interrupted {
			_, err := d.Answer(ctx, []desk.Decision{{
				Thread: result.Thread, Action: "retry", Data: json.RawMessage(`"Thanks to everyone who reported these."`), Reviewer: "ana",
			}}, false)
			if err != nil {
				return fmt.Errorf("send %s back: %w", s.file, err)
			}
		}
	}
	return nil
}
