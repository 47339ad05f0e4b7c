package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/config"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
)

const configPage = "../../docs/config.md"

// TestFreshConfigDocs keeps docs/config.md what the table of keys says.
func TestFreshConfigDocs(t *testing.T) {
	raw, err := os.ReadFile(configPage)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- generated: keys -->\n"
	head, _, found := bytes.Cut(raw, []byte(mark))
	if !found {
		t.Fatalf("%s has no place for the keys", configPage)
	}
	freshFile(t, configPage, append(head, []byte(mark+configReference())...))
}

func configReference() string {
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + cell(s) + "`"
	}
	var b strings.Builder
	b.WriteString("| key | is | default | before it goes | what it does |\n|---|---|---|---|---|\n")
	for _, e := range config.Reference() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", e.Key, cell(e.Is), cell(e.Default), strings.TrimSpace(code(e.Flag)+" "+code(e.Env)), cell(e.About))
	}
	fmt.Fprintf(&b, "\n## Example\n\n`hitl-tui config --example` prints it.\n\n```yaml\n%s```\n", config.Example())
	return b.String()
}

// TestTheKeysOfTheExampleAreTaken: the desk knows their scope and command, and they clash with no other key.
func TestTheKeysOfTheExampleAreTaken(t *testing.T) {
	c, err := config.Parse("config.yaml", config.Example(), "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := keymap.New(keymap.Overrides(c.Keys)); len(problems) > 0 {
		t.Error(problems)
	}
}

// TestConfigTellsTheDefaults: what the reference says holds without a file is what `config` shows then.
func TestConfigTellsTheDefaults(t *testing.T) {
	p := newProcesses(t, nil)
	var rows []wire.Setting
	if err := json.Unmarshal([]byte(p.run(0, "config", "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, r := range rows {
		shown[r.Setting] = map[string]string{"on": "true", "off": "false"}[r.Value]
		shown[r.Setting] = cmp.Or(shown[r.Setting], r.Value)
	}
	for _, e := range config.Reference() {
		value, is := shown[e.Key]
		if !is || e.Default == "" || e.Env == "HITL_TUI_STORE" || e.Env == "HITL_TUI_REVIEWER" || e.Key == "workflows" || e.Key == "ascii" {
			continue
		}
		if value != e.Default {
			t.Errorf("%s is %q by default, the reference says %q", e.Key, value, e.Default)
		}
	}
}
