package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "hitl-tui",
		Short: "Run workflows that stop for people, and answer them",
		Long: filled(`A durable engine that runs workflows, stops at a question and resumes after hours, a crash or a restart; and a
terminal desk at which reviewers see every waiting thread, read what is asked and answer.

Without a command it opens the desk.`),
		Example: `hitl-tui demo
hitl-tui run release-notes.yaml -F since=v1.0
hitl-tui threads
hitl-tui resume 7f3k approve`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.openTheDesk(cmd.Context()) },
	}
	a.accessibleFlag(root)
	flags := root.PersistentFlags()
	flags.StringVar(&a.flags.store, "store", "", "where threads are kept: sqlite:PATH, file:DIR, postgres://HOST/DATABASE, redis://HOST, memory: or none: (HITL_TUI_STORE)")
	flags.StringVarP(&a.flags.config, "config", "c", "", "configuration file (HITL_TUI_CONFIG)")
	flags.StringVar(&a.flags.reviewer, "reviewer", "", "who decides (HITL_TUI_REVIEWER); the system user")
	flags.BoolVar(&a.flags.json, "json", false, "print JSON")
	flags.BoolVarP(&a.flags.quiet, "quiet", "q", false, "print no progress")
	flags.BoolVar(&a.flags.readOnly, "read-only", false, "refuse whatever decides or deletes")
	flags.BoolVar(&a.flags.exitCode, "exit-code", false, "exit 10 when a thread waits, 11 when a person ended it (HITL_TUI_EXIT_CODE)")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		message, _, _ := strings.Cut(err.Error(), ": strconv.") // which function could not read it helps nobody
		return &desk.Error{Code: desk.CodeUsage, Message: message, Remedy: "see `" + cmd.CommandPath() + " --help`"}
	})
	root.AddGroup(
		&cobra.Group{ID: "work", Title: "Work"},
		&cobra.Group{ID: "look", Title: "Look"},
		&cobra.Group{ID: "keep", Title: "Upkeep"},
		&cobra.Group{ID: "help", Title: "Help"},
	)
	root.SetHelpCommand(a.helpCommand(root))
	any, waiting, running := threadsIn(desk.All), threadsIn(desk.Waiting), threadsIn(desk.Running)
	a.add(root, "work", a.demoCommand(), a.workflowsOrFiles(a.runCommand()), a.completing(a.resumeCommand(), any, actionsOf, nothing),
		a.completing(a.cancelCommand(), running), a.completing(a.forkCommand(), any, nothing), a.completing(a.patchCommand(), any, nothing),
		a.completing(a.waitCommand(), any), a.completing(a.claimCommand(), waiting), a.completing(a.releaseCommand(), any), a.serveCommand(),
		a.validateCommand(), a.convertCommand())
	a.add(root, "look", a.threadsCommand(), a.questionsCommand(), a.rulesCommand(), a.completing(a.showCommand(), any, nothing),
		a.completing(a.historyCommand(), any, nothing), a.completing(a.eventsCommand(), any, nothing), a.completing(a.diffCommand(), any, nothing), a.completing(a.auditCommand(), any, nothing))
	a.add(root, "keep", a.completing(a.pruneCommand(), any), a.completing(a.deleteCommand(), any), a.sweepCommand(),
		a.completing(a.exportCommand(), any, nothing), a.importCommand(), a.backupCommand(), a.restoreCommand(), a.compactCommand(), a.doctorCommand())
	a.add(root, "help", a.actionsCommand(), a.keysCommand(), a.themesCommand(), a.configCommand(), a.manCommand(root), a.versionCommand())
	return root
}

// accessibleFlag adds --accessible to a command that opens the desk.
func (a *app) accessibleFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.flags.accessible, "accessible", false, "ask line by line, for screen readers (accessible: true in the configuration)")
}

// helpCommand is cobra's own, but that a command which is none is wrong usage.
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	return a.command("help [COMMAND]", "Help about a command", "", "hitl-tui help resume", cobra.ArbitraryArgs, func(_ *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("there is no command %q", strings.Join(args, " ")), Remedy: "see `hitl-tui --help`"}
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	})
}

func (a *app) add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}
