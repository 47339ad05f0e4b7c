package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write docs/commands.md anew")

const commandsPage = "../../docs/commands.md"

// TestFreshCommandDocs compares docs/commands.md with the commands.
func TestFreshCommandDocs(t *testing.T) {
	got := commandReference()
	if *update {
		if err := os.WriteFile(commandsPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(commandsPage)
	if err != nil || string(want) != got {
		t.Errorf("%s is stale (%v): run make generate", commandsPage, err)
	}
}

// TestCommandsExplainThemselves demands of every command what its help is made of.
func TestCommandsExplainThemselves(t *testing.T) {
	for _, c := range referenced() {
		if c.Short == "" || c.GroupID == "" || c.Example == "" {
			t.Errorf("%s has no short text, group or example", c.Name())
		}
		if strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: the short text is no sentence: %q", c.Name(), c.Short)
		}
	}
}

func referenced() []*cobra.Command {
	var all []*cobra.Command
	for _, c := range (&app{machine: &machine{}}).root().Commands() {
		if !c.Hidden && c.Name() != "help" {
			all = append(all, c)
		}
	}
	return all
}

func commandReference() string {
	root := (&app{machine: &machine{}}).root()
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Generated from cmd/hitl-tui by make generate. -->\n\n")
	fmt.Fprintf(&b, "%s\n\nEvery command takes these:\n\n%s\n", root.Long, flagTable(root.PersistentFlags()))
	for _, group := range root.Groups() {
		fmt.Fprintf(&b, "## %s\n\n", group.Title)
		for _, c := range root.Commands() {
			if c.GroupID != group.ID || c.Hidden {
				continue
			}
			fmt.Fprintf(&b, "### %s\n\n`hitl-tui %s`\n\n%s\n\n", c.Name(), c.Use, cmp.Or(c.Long, c.Short+"."))
			if table := flagTable(c.LocalNonPersistentFlags()); table != "" {
				b.WriteString(table + "\n")
			}
			if c.Example != "" {
				fmt.Fprintf(&b, "```sh\n%s\n```\n\n", c.Example)
			}
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if b.Len() == 0 {
			b.WriteString("| option | |\n|---|---|\n")
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSpace(name+" "+kind), strings.ReplaceAll(usage, "|", `\|`))
	})
	return b.String()
}
