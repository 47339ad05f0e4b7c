package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

func (a *app) auditCommand() *cobra.Command {
	var v verification
	var limit int
	cmd := a.command("audit [THREAD]", "Show who decided what, and verify the record",
		`Lists decisions, newest first: who decided what, when, after how long. With --verify it checks the hash chain of each thread,
that every decision is there whose effects a step holds, and what is left of deleted threads; it exits 1 when a row was
changed, removed or reordered. Whoever can write to the whole store can make its chains hold again: --keep writes down how
each record ends now, for a place out of their reach, and --expect demands that each still begins so.`,
		"hitl-tui audit\nhitl-tui audit 7f3k\nhitl-tui audit --verify\nhitl-tui audit --verify --expect ends-may.jsonl --keep ends-june.jsonl", cobra.MaximumNArgs(1), nil)
	cmd.Flags().BoolVar(&v.on, "verify", false, "check the hash chains")
	cmd.Flags().StringVar(&v.expect, "expect", "", "with --verify, a file of --keep, - for standard input: what it says must still be there")
	cmd.Flags().StringVar(&v.keep, "keep", "", "with --verify, a new file for how each record ends now")
	cmd.Flags().IntVar(&limit, "limit", 100, "rows")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		thread := ""
		if len(args) > 0 {
			thread = args[0]
		}
		if limit < 1 || limit > 10000 {
			return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("--limit %d is not between 1 and 10000", limit)}
		}
		if err := v.check(); err != nil {
			return err
		}
		why := openRead
		if v.on {
			why = openStored
		}
		d, err := a.open(cmd.Context(), why)
		if err != nil {
			return err
		}
		defer d.close()
		if v.on {
			return a.verify(cmd.Context(), d, thread, &v)
		}
		rows, err := d.Decisions(cmd.Context(), thread, limit)
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.printJSON(wire.Decisions(rows))
		}
		if len(rows) == 0 {
			a.say("no decisions yet")
			return nil
		}
		t := table{head: []string{"DECIDED", "THREAD", "QUESTION", "ACTION", "BY", "WAITED", "OUTCOME", "COMMENT"}, grow: 7}
		for _, r := range rows {
			t.add(r.DecidedAt.Local().Format(time.DateTime), r.Thread, r.Address, r.Action, r.Reviewer, age(r.Waited), r.Outcome, ansi.Truncate(sanitize.Line(remark(r)), 80, "…"))
		}
		a.printTable(t)
		return nil
	}
	return cmd
}

// verification says whether records are verified, against what, and where their ends are kept.
type verification struct {
	on           bool
	expect, keep string // files; "" for none
}

func (v *verification) check() error {
	if !v.on && v.expect+v.keep != "" {
		return &desk.Error{Code: desk.CodeUsage, Message: "--expect and --keep go with --verify"}
	}
	return nil
}

func (a *app) verify(ctx context.Context, d *opened, thread string, v *verification) error {
	expect, err := a.readEnds(v.expect)
	if err != nil {
		return err
	}
	result, err := d.Verify(ctx, thread, expect)
	if err != nil {
		return err
	}
	if err := writeEnds(v.keep, result.Ends); err != nil {
		return err
	}
	if a.flags.json {
		if err := a.printJSON(wire.FromVerified(result)); err != nil {
			return err
		}
	} else {
		for _, line := range result.Broken {
			fmt.Fprintln(a.out, sanitize.Line(line))
		}
		if len(result.Broken) == 0 {
			deleted, as := "", ""
			if result.Tombstones > 0 {
				deleted = fmt.Sprintf(", and %s of deleted threads", plural(result.Tombstones, "tombstone"))
			}
			if v.expect != "" {
				as = ", and as expected"
			}
			fmt.Fprintf(a.out, "%s of %s%s: unbroken%s\n", plural(result.Rows, "decision"), plural(result.Threads, "thread"), deleted, as)
		}
	}
	if len(result.Broken) > 0 {
		return &exitError{desk.ExitFailed}
	}
	return nil
}

// The ends of records are kept as one JSON object a line, which starts with its thread.

func writeEnds(file string, ends []desk.RecordEnd) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &desk.Error{Code: desk.CodeUsage, Message: file + " exists already", Remedy: "name a new file", Err: err}
	}
	if err != nil {
		return unwritable(err)
	}
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	for i := 0; i < len(ends) && err == nil; i++ {
		err = e.Encode(&ends[i])
	}
	if err = errors.Join(err, w.Flush(), f.Sync(), f.Close()); err != nil {
		return unwritable(err)
	}
	return nil
}

func (a *app) readEnds(file string) ([]desk.RecordEnd, error) {
	if file == "" {
		return nil, nil
	}
	var from io.Reader = a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, missingFile(file, err)
		}
		defer f.Close()
		from = f
	}
	var ends []desk.RecordEnd
	for d := json.NewDecoder(from); ; {
		var e desk.RecordEnd
		err := d.Decode(&e)
		if errors.Is(err, io.EOF) {
			return ends, nil
		}
		if err == nil && (e.Thread == "" || (e.Decisions == 0) != (e.Hash == "")) {
			err = errors.New("thread, decisions and hash are not all there")
		}
		if err != nil {
			return nil, &desk.Error{Code: desk.CodeInvalidData, Message: fmt.Sprintf("%s, entry %d: %v", file, len(ends)+1, err),
				Remedy: "give a file that `hitl-tui audit --verify --keep` wrote", Err: err}
		}
		ends = append(ends, e)
	}
}
