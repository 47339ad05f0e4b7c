package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

func (a *app) manCommand(root *cobra.Command) *cobra.Command {
	var folder string
	cmd := a.command("man [COMMAND]", "Print a manual page",
		`Prints the manual page of hitl-tui, or of one of its commands, as man reads it. With --output the pages of all are written into a
folder: hitl-tui.1, hitl-tui-run.1 and so on.`,
		"hitl-tui man resume | man -l -\nhitl-tui man --output ~/.local/share/man/man1", cobra.MaximumNArgs(1), nil)
	cmd.Flags().StringVarP(&folder, "output", "o", "", "folder into which all pages are written")
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, c := range manuals(root) {
			names = append(names, described(c.Name(), c.Short))
		}
		return names[:len(names)*(1-len(args))], cobra.ShellCompDirectiveNoFileComp
	}
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if folder != "" {
			if len(args) > 0 {
				return &desk.Error{Code: desk.CodeUsage, Message: "--output writes all pages", Remedy: "leave the command away"}
			}
			return a.writeManuals(root, folder)
		}
		page := manual(root, root)
		if len(args) > 0 {
			about, _, err := root.Find(args)
			if err != nil || about == root {
				return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("there is no command %q", args[0]), Remedy: "see `hitl-tui --help`"}
			}
			page = manual(root, about)
		}
		_, err := fmt.Fprint(a.out, page)
		return err
	}
	return cmd
}

// manuals are the commands that have a page of their own.
func manuals(root *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, c := range root.Commands() {
		if !c.Hidden && c.GroupID != "" {
			all = append(all, c)
		}
	}
	return all
}

func (a *app) writeManuals(root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return unwritable(err)
	}
	for _, c := range append([]*cobra.Command{root}, manuals(root)...) {
		file := filepath.Join(folder, manualName(root, c)+".1")
		if err := os.WriteFile(file, []byte(manual(root, c)), 0o644); err != nil {
			return unwritable(err)
		}
	}
	a.say("wrote the pages into %s", folder)
	return nil
}

func manualName(root, c *cobra.Command) string {
	if c == root {
		return root.Name()
	}
	return root.Name() + "-" + c.Name()
}

// manual is the page of a command as roff.
func manual(root, c *cobra.Command) string {
	r := &roff{}
	r.macro("TH", strings.ToUpper(manualName(root, c)), "1", "", "hitl-tui "+versionText(), "User Commands")
	r.macro("SH", "NAME")
	r.text(manualName(root, c) + " - " + c.Short)
	r.macro("SH", "SYNOPSIS")
	if c == root {
		r.text("hitl-tui [options]")
		r.macro("br")
		r.text("hitl-tui COMMAND [options] [arguments]")
	} else {
		r.text(strings.TrimSpace("hitl-tui "+c.Use) + " [options]")
	}
	r.macro("SH", "DESCRIPTION")
	r.paragraphs(cmp.Or(c.Long, c.Short+"."))
	if c == root {
		r.macro("SH", "COMMANDS")
		for _, sub := range manuals(root) {
			r.entry(root.Name()+"-"+sub.Name()+"(1)", sub.Short)
		}
	}
	r.options("OPTIONS", c.LocalNonPersistentFlags())
	r.options("OPTIONS OF EVERY COMMAND", root.PersistentFlags())
	if c.Example != "" {
		r.macro("SH", "EXAMPLES")
		r.verbatim(c.Example)
	}
	r.macro("SH", "EXIT STATUS")
	for _, x := range exitCodes() {
		r.entry(x.code, x.means)
	}
	r.macro("SH", "ENVIRONMENT")
	for _, x := range variables() {
		r.entry(x[0], x[1])
	}
	if c == root {
		r.macro("SH", "FILES")
		r.entry("$XDG_CONFIG_HOME/hitl-tui/config.yaml", "the configuration; hitl-tui config --example prints one with every key")
		r.entry("$XDG_DATA_HOME/hitl-tui/desk.db", "the store, unless another is named")
		r.entry("$XDG_STATE_HOME/hitl-tui/", "drafts, outbox and log")
	} else {
		r.macro("SH", "SEE ALSO")
		r.text("hitl-tui(1)")
	}
	return r.String()
}

// exitCode is an exit code and what it means.
type exitCode struct{ code, means string }

// exitCodes lists the exit codes of the commands.
func exitCodes() []exitCode {
	return []exitCode{
		{"0", "done, waiting, or ended by a person"},
		{"1", "the workflow failed; audit --verify found a broken chain; doctor found a problem"},
		{"2", "wrong usage, token, action, data or workflow file: nothing was written"},
		{"3", "thread, workflow or file not found"},
		{"4", "not waiting, already answered, conflict, claimed, running, workflow changed"},
		{"5", "the store cannot be used"},
		{"10, 11", "with --exit-code: waiting; ended by a person"},
		{"70", "a bug, which is told as one"},
		{"124", "the time of wait --timeout is over"},
		{"130, 143", "cancelled, terminated"},
	}
}

// variables are those of the environment that commands read.
func variables() [][2]string {
	return [][2]string{
		{"HITL_TUI_STORE, HITL_TUI_CONFIG, HITL_TUI_REVIEWER, HITL_TUI_EXIT_CODE", "as the options of these names"},
		{"HITL_TUI_THEME, HITL_TUI_ASCII, HITL_TUI_REDUCED_MOTION", "as the keys of the configuration"},
		{"HITL_TUI_TOKEN, HITL_TUI_READ_TOKEN", "the tokens of serve"},
		{"NO_COLOR", "no colours"},
	}
}

// roff writes a manual page.
type roff struct{ strings.Builder }

// macro writes a request with its arguments.
func (r *roff) macro(name string, args ...string) {
	r.WriteString("." + name)
	for _, arg := range args {
		r.WriteString(` "` + strings.ReplaceAll(escaped(arg), `"`, `\(dq`) + `"`)
	}
	r.WriteByte('\n')
}

// escaped keeps what roff would read as its own as it is, and names what is not ASCII.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`).Replace(text) {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&b, `\[u%04X]`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// text writes lines that are filled.
func (r *roff) text(text string) {
	for line := range strings.Lines(text) {
		line = escaped(strings.TrimRight(line, "\n"))
		if strings.HasPrefix(line, ".") {
			line = `\&` + line
		}
		r.WriteString(line + "\n")
	}
}

// paragraphs writes a text in which an empty line ends a paragraph, and indented ones are shown as they stand.
func (r *roff) paragraphs(text string) {
	for i, p := range strings.Split(text, "\n\n") {
		if i > 0 {
			r.macro("PP")
		}
		if strings.HasPrefix(p, "    ") {
			r.verbatim(p)
			continue
		}
		r.text(p)
	}
}

func (r *roff) verbatim(text string) {
	r.macro("EX")
	r.text(text)
	r.macro("EE")
}

// entry writes a term and what it means.
func (r *roff) entry(term, means string) {
	r.macro("TP")
	r.macro("B", term)
	r.text(means)
}

func (r *roff) options(title string, flags *pflag.FlagSet) {
	first := true
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if first {
			r.macro("SH", title)
			first = false
		}
		kind, usage := pflag.UnquoteUsage(f)
		term := "--" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		if kind != "" {
			term += " " + kind
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" && f.DefValue != "-1" {
			usage += " (" + f.DefValue + ")"
		}
		r.entry(term, usage)
	})
}
