package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// version is set by the linker.
var version string

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func (a *app) versionCommand() *cobra.Command {
	return a.command("version", "Print the version", "", "hitl-tui version\nhitl-tui version --json", cobra.NoArgs, func(*cobra.Command, []string) error {
		if a.flags.json {
			return a.printJSON(wire.Version{Version: versionText()})
		}
		fmt.Fprintln(a.out, versionText())
		return nil
	})
}

func (a *app) validateCommand() *cobra.Command {
	return a.command("validate FILE...", "Report every fault of workflow files", "Reads workflow files and whatever they name, and reports every fault with line, excerpt and the nearest valid name; of an AgentMap CSV file all graphs, or the one of FILE::GRAPH. The file - is standard input. A file that validates runs.",
		"hitl-tui validate release-notes.yaml\nhitl-tui validate approval.csv\nhitl-tui validate *.yaml --json", cobra.MinimumNArgs(1), func(_ *cobra.Command, args []string) error {
			s, err := a.setupFor(args...)
			if err != nil {
				return err
			}
			library := s.files(a.lookup)
			found := workflow.Faults{}
			var failed error
			for _, name := range args {
				all, err := library.LoadAll(name)
				var faults workflow.Faults
				switch {
				case errors.As(err, &faults):
					found = append(found, faults...)
					failed = &shownError{desk.CodeWorkflowInvalid}
					if !a.flags.json {
						fmt.Fprintln(a.err, strings.TrimRight(faults.Error(), "\n"))
					}
				case err != nil:
					failed = missingFile(name, err)
					if len(args) == 1 || a.flags.json {
						return failed
					}
					a.tell(failed) // the files after it are checked all the same
					failed = &shownError{desk.Code(failed)}
				default:
					if !a.flags.json {
						a.printValid(name, all)
					}
				}
			}
			if a.flags.json {
				if err := a.printJSON(found); err != nil {
					return err
				}
			}
			return failed
		})
}

// printValid tells which workflows a file holds, and what is to be known about them.
func (a *app) printValid(name string, all []*workflow.Loaded) {
	for _, loaded := range all {
		for _, warning := range loaded.Warnings {
			a.say("warning: %s", workflow.Faults{warning}.Error())
		}
		fmt.Fprintf(a.out, "%s: %s is valid\n", name, loaded.Name)
	}
}

func (a *app) actionsCommand() *cobra.Command {
	return a.command("actions", "List the fifteen actions", "Lists the fifteen response actions with their default key at the desk and what each does.",
		"hitl-tui actions\nhitl-tui actions --json", cobra.NoArgs, func(*cobra.Command, []string) error {
			if a.flags.json {
				var rows []wire.Action
				for _, info := range actions.Table() {
					rows = append(rows, wire.Action{Action: string(info.Action), Key: info.Key, Summary: info.Summary})
				}
				return a.printJSON(rows)
			}
			t := table{head: []string{"ACTION", "KEY", "WHAT HAPPENS"}, grow: 2}
			for _, info := range actions.Table() {
				t.add(string(info.Action), info.Key, info.Summary)
			}
			a.printTable(t)
			return nil
		})
}

func (a *app) keysCommand() *cobra.Command {
	return a.command("keys", "Print the keys of the desk", "Prints the keys of the desk, from the same table that makes them, with those that the configuration changes.", "hitl-tui keys\nhitl-tui keys --json", cobra.NoArgs,
		func(*cobra.Command, []string) error {
			s, err := a.setup()
			if err != nil {
				return err
			}
			keys, problems := keymap.New(keymap.Overrides(s.keys))
			for _, problem := range problems {
				a.say("%v", problem)
			}
			if a.flags.json {
				return a.printJSON(keyRows(keys.Keys))
			}
			a.printWrapped(command.Text(keys.Keys), []int{2, 23, 42}) // where its columns begin
			return nil
		})
}

// keyRows lists the commands of the desk with the keys that they have here.
func keyRows(keys func(command.ID) []string) []wire.Key {
	var rows []wire.Key
	for _, scope := range command.Scopes() {
		for _, c := range command.In(scope) {
			row := wire.Key{Scope: string(scope), Command: c.ID.Name(), Keys: append([]string{}, keys(c.ID)...), Title: c.Title, Help: c.Help}
			if c.Effect != command.Plain {
				effect := string(c.Effect)
				row.Effect = &effect
			}
			rows = append(rows, row)
		}
	}
	return rows
}
