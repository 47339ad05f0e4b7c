package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

func (a *app) convertCommand() *cobra.Command {
	var folder string
	var force bool
	cmd := a.command("convert FILE.csv[::GRAPH]", "Write a graph of an AgentMap CSV file as YAML",
		`Prints a graph of an AgentMap CSV file as a YAML workflow, which runs as the CSV does. With --output the graphs of the
file, or the one that is named with the graphs that it runs, are written into a folder, each as GRAPH.yaml. The file -
is standard input, and -- -::GRAPH a graph in it.`,
		"hitl-tui convert approval.csv > approval.yaml\nhitl-tui convert team.csv::Review\nhitl-tui convert team.csv --output workflows", cobra.ExactArgs(1), nil)
	cmd.Flags().StringVarP(&folder, "output", "o", "", "folder into which the YAML files are written")
	cmd.Flags().BoolVar(&force, "force", false, "write over files that are there")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		s, err := a.setupFor(args[0])
		if err != nil {
			return err
		}
		list, err := s.files(a.lookup).Convert(args[0], folder)
		if err != nil {
			return missingFile(args[0], local.Coded(err))
		}
		for _, c := range list {
			for _, warning := range c.Warnings {
				a.say("warning: %s", workflow.Faults{warning}.Error())
			}
		}
		if folder != "" {
			return a.writeConverted(list, folder, force)
		}
		return a.printConverted(args[0], list)
	}
	return cmd
}

// printConverted prints one graph: the one that is named, or the only one that is not run by another.
func (a *app) printConverted(ref string, list []workflow.Converted) error {
	var tops []workflow.Converted
	for _, c := range list {
		if !slices.ContainsFunc(list, func(other workflow.Converted) bool { return slices.Contains(other.Runs, c.Graph) }) {
			tops = append(tops, c)
		}
	}
	if strings.Contains(ref, "::") || len(tops) == 0 {
		tops = list[:1]
	}
	if len(tops) > 1 {
		names := make([]string, len(list))
		for i, c := range list {
			names[i] = "::" + c.Graph
		}
		return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("%s holds several graphs: %s", ref, strings.Join(names, ", ")),
			Remedy: "name one, or give --output FOLDER to write all"}
	}
	fmt.Fprint(a.out, tops[0].Text)
	if len(tops[0].Runs) > 0 {
		a.say("it runs other graphs of the file; `hitl-tui convert %s --output FOLDER` writes them too", ref)
	}
	return nil
}

// writeConverted writes every file, or none where one of them is there.
func (a *app) writeConverted(list []workflow.Converted, folder string, force bool) error {
	seen := map[string]string{}
	for _, c := range list {
		if other, twice := seen[strings.ToLower(c.File)]; twice {
			return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("the graphs %q and %q would both be %s", other, c.Graph, c.File), Remedy: "convert them one by one, with ::GRAPH"}
		}
		seen[strings.ToLower(c.File)] = c.Graph
		if _, err := os.Lstat(filepath.Join(folder, c.File)); !force && !errors.Is(err, fs.ErrNotExist) {
			return &desk.Error{Code: desk.CodeUsage, Message: filepath.Join(folder, c.File) + " is there already", Remedy: "name another folder, or write over it with --force"}
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, c := range list {
		file := filepath.Join(folder, c.File)
		if err := os.WriteFile(file, []byte(c.Text), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(a.out, file)
	}
	return nil
}
