package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

func (a *app) runCommand() *cobra.Command {
	var input, inputFile, thread string
	var pairs []string
	cmd := a.command("run FILE[::GRAPH] or NAME", "Start a thread and run it until it ends or waits",
		`Starts a thread of a workflow file and runs it until it ends, waits for a person or fails. Its programs run in the
present folder, also when the thread is resumed from elsewhere. A NAME, without folder and ending, is a file of that name
in one of the configured folders of workflows. The file - is standard input, which the thread keeps as it keeps files. The input is given as JSON, as a file, or as fields; fields win over
the file, the file over -i. On a terminal the nodes that run, what programs and models say, and failed attempts are
shown on standard error, unless --quiet.`,
		`hitl-tui run release-notes.yaml -F since=v1.0
hitl-tui run expense-triage.yaml -i '{"file":"claims.csv","limit":250}'
hitl-tui run article.yaml --input-file article.json --json`,
		cobra.ExactArgs(1), nil)
	cmd.Flags().StringVarP(&input, "input", "i", "", "input object as JSON")
	cmd.Flags().StringVar(&inputFile, "input-file", "", "file with the input object, - for standard input")
	cmd.Flags().StringArrayVarP(&pairs, "field", "F", nil, "one field of the input, KEY=VALUE; may be given often")
	cmd.Flags().StringVar(&thread, "thread", "", "id of the new thread: letters, digits and . _ - : @ +  (a new UUID)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if isPiped(args[0]) && inputFile == workflow.Stdin {
			return a.report(nil, &desk.Error{Code: desk.CodeUsage, Message: "standard input cannot be the workflow and its input", Remedy: "give one of them as a file"})
		}
		given, err := a.input(input, inputFile, pairs)
		if err != nil {
			return a.report(nil, err)
		}
		s, err := a.setupFor(args[0])
		if err != nil {
			return a.report(nil, err)
		}
		workdir, err := os.Getwd()
		if err != nil {
			return a.report(nil, err)
		}
		start := desk.StartRequest{File: args[0], Input: given, Thread: thread, Workdir: workdir, Progress: a.progress()}
		if err := local.CheckStart(s.files(a.lookup), start); err != nil { // before a store is made for it
			return a.report(nil, missingFile(args[0], err))
		}
		d, err := a.openWith(cmd.Context(), s, openWrite)
		if err != nil {
			return a.report(nil, err)
		}
		defer d.close()
		result, err := d.Start(cmd.Context(), start, false)
		return a.reportAbout(cmd.Context(), d, thread, result, missingFile(args[0], err))
	}
	return cmd
}

// input puts the input object together.
func (a *app) input(text, file string, pairs []string) (map[string]json.RawMessage, error) {
	object := map[string]json.RawMessage{}
	add := func(what string, raw json.RawMessage) error {
		var part map[string]json.RawMessage
		if err := json.Unmarshal(raw, &part); err != nil || part == nil {
			return invalidf("%s must be a JSON object", what)
		}
		maps.Copy(object, part)
		return nil
	}
	if text != "" {
		raw, err := oneJSON("-i", []byte(text))
		if err != nil {
			return nil, err
		}
		if err := add("-i", raw); err != nil {
			return nil, err
		}
	}
	if file != "" {
		raw, err := a.readJSON(file, inputLimit)
		if err != nil {
			return nil, missingFile(file, err)
		}
		if err := add(file, raw); err != nil {
			return nil, err
		}
	}
	single, err := fields(pairs)
	if err != nil {
		return nil, err
	}
	maps.Copy(object, single)
	return object, nil
}

// missingFile says which file a command line names is not there.
func missingFile(name string, err error) error {
	var own *desk.Error
	var unknown *workflow.NameError
	if (errors.As(err, &unknown) || errors.As(err, new(*workflow.GraphError))) && !errors.As(err, &own) {
		return local.Coded(err)
	}
	if errors.Is(err, fs.ErrNotExist) && !errors.As(err, &own) {
		return &desk.Error{Code: desk.CodeNotFound, Message: "there is no file " + name, Remedy: "check the path", Err: err}
	}
	return err
}
