package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

func (a *app) exportCommand() *cobra.Command {
	var file string
	var masked bool
	cmd := a.command("export THREAD", "Write one thread as JSON",
		`Writes a thread whole: each step with its state to the byte, the record of decisions, answers that nobody has applied
yet, and its definition. "hitl-tui import" takes it into any store. The file holds what the thread holds, secrets too;
--redact masks them, as --read-only does, and such a file is for reading only.`,
		`hitl-tui export 7f3k -o thread.json
hitl-tui export 7f3k --redact | less
hitl-tui export 7f3k | hitl-tui import - --store postgres://db.example/hitl`, cobra.ExactArgs(1), nil)
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this new file instead of standard output")
	cmd.Flags().BoolVar(&masked, "redact", false, "mask secrets; the file cannot be imported")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		d, err := a.open(cmd.Context(), openRead)
		if err != nil {
			return err
		}
		defer d.close()
		var mask desk.Masker
		if masked || a.flags.readOnly {
			mask = d.setup.redact
		}
		var e *desk.Exported
		write := func(to io.Writer) (err error) {
			e, err = d.Export(cmd.Context(), args[0], to, mask)
			return err
		}
		if file == "" || file == "-" {
			err = write(a.out)
		} else {
			err = writeNew(file, write)
		}
		if err != nil {
			return err
		}
		if e.Warning != "" {
			a.say("hitl-tui: %s", e.Warning)
		}
		a.say("exported %s: %s, %s", e.Thread, plural(e.Steps, "step"), plural(e.Decisions, "decision"))
		return nil
	}
	return cmd
}

// writeNew writes a file that is its owner's alone and is not there before it is whole.
func writeNew(file string, write func(io.Writer) error) error {
	exists := &desk.Error{Code: desk.CodeUsage, Message: file + " exists already", Remedy: "name a new file"}
	if _, err := os.Lstat(file); err == nil {
		return exists
	}
	partial := file + ".partial"
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return unwritable(err)
	}
	err = write(f)
	for _, fn := range []func() error{f.Sync, f.Close} {
		if failed := fn(); err == nil && failed != nil {
			err = unwritable(failed)
		}
	}
	if err == nil {
		if err = os.Rename(partial, file); err != nil {
			err = unwritable(err)
		}
	}
	if err != nil {
		os.Remove(partial)
	}
	return err
}

func unwritable(err error) error {
	return &desk.Error{Code: desk.CodeUsage, Message: err.Error(), Remedy: "name a file in a folder that can be written", Err: err}
}

func (a *app) importCommand() *cobra.Command {
	var revive bool
	cmd := a.command("import FILE", "Take in a thread that was exported",
		`Takes in what "hitl-tui export" wrote, "-" from standard input: the thread is then here as it was there, and can be answered
and run on. Nothing is written unless all of the file is right, and a thread that is here stays as it is.`,
		"hitl-tui import thread.json\nhitl-tui export 7f3k | hitl-tui import - --store redis://cache.example", cobra.ExactArgs(1), nil)
	cmd.Flags().BoolVar(&revive, "revive", false, "also take in a thread that was deleted here")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		from, done, err := a.seekable(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		defer done()
		if err := local.CheckImport(cmd.Context(), from); err != nil { // before a store is made for it
			return err
		}
		d, err := a.open(cmd.Context(), openWrite)
		if err != nil {
			return err
		}
		defer d.close()
		i, err := d.Import(cmd.Context(), from, revive)
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.printJSON(wire.FromImported(i))
		}
		a.say("imported %s (%s, %s): %s, %s", i.Thread, i.Workflow, i.Status, plural(i.Steps, "step"), plural(i.Decisions, "decision"))
		return nil
	}
	return cmd
}

// seekable opens a file, or spools standard input into one: it is read more than once, and no store waits for it.
func (a *app) seekable(ctx context.Context, name string) (from io.ReadSeeker, done func(), err error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				err = &desk.Error{Code: desk.CodeUsage, Message: err.Error(), Remedy: "name a file that can be read", Err: err}
			}
			return nil, nil, missingFile(name, err)
		}
		return f, func() { f.Close() }, nil
	}
	f, err := os.CreateTemp("", "hitl-tui-import-*") // its owner's alone
	if err != nil {
		return nil, nil, unwritable(err)
	}
	done = func() {
		f.Close()
		os.Remove(f.Name())
	}
	if _, err = io.Copy(f, a.in); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		done()
		return nil, nil, unwritable(err)
	}
	return f, done, nil
}

func (a *app) backupCommand() *cobra.Command {
	return a.command("backup FILE", "Copy all threads into a file while they are in use",
		`Writes a SQLite store with all threads, whatever keeps them here; the desk opens it like any other (--store sqlite:FILE
--read-only), and "hitl-tui restore" takes it into any store. Of a SQLite or PostgreSQL store it is one moment; of the
others each thread is as it was at one moment, and not all at the same. It holds what the store holds, secrets too, so
--read-only refuses to make one. FILE must be new, and is there once it is whole and was looked through.
What is hurt in the store is named, left out of the file or in it as it is; the rest is backed up, and the exit code is 5.`,
		"hitl-tui backup threads-$(date +%F).db", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			d, err := a.open(cmd.Context(), openStored)
			if err != nil {
				return err
			}
			defer d.close()
			b, err := d.Backup(cmd.Context(), args[0], a.counter("backed up", size))
			if err != nil {
				return err
			}
			if err := a.printBackedUp(b); err != nil {
				return err
			}
			if len(b.LeftOut)+len(b.Hurt) > 0 {
				return &shownError{desk.CodeStoreCorrupt}
			}
			return nil
		})
}

func (a *app) printBackedUp(b *desk.BackedUp) error {
	if a.flags.json {
		return a.printJSON(wire.FromBackedUp(b))
	}
	a.say("backed up %s to %s (%s)", plural(b.Threads, "thread"), b.File, size(b.Bytes))
	for _, d := range b.LeftOut {
		fmt.Fprintf(a.err, "hitl-tui: not backed up, it is damaged: %s\n", sanitize.Line(d))
	}
	for _, d := range b.Hurt {
		fmt.Fprintf(a.err, "hitl-tui: damaged in the store, and so in the backup: %s\n", sanitize.Line(d))
	}
	return nil
}

func (a *app) restoreCommand() *cobra.Command {
	var add bool
	cmd := a.command("restore FILE", "Take in the threads of a backup",
		`Takes the threads of a backup, which is a SQLite store, into the store that --store names, with the record of decisions and
the tombstones of deleted threads. The store must be empty; with --add it may have other threads. A thread that is there
already, the same, is left as it is: what was interrupted goes on with --add. Nobody holds a lease on what was restored.`,
		"hitl-tui restore threads-2026-03-01.db --store postgres://db.example/hitl", cobra.ExactArgs(1), nil)
	cmd.Flags().BoolVar(&add, "add", false, "take in the threads that the store lacks")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := os.Stat(args[0]); err != nil {
			return missingFile(args[0], err)
		}
		backup, err := open.Backup(cmd.Context(), args[0]) // before a store is made for it
		if err != nil {
			return unusable(err)
		}
		if err := backup.Close(); err != nil {
			return err
		}
		d, err := a.open(cmd.Context(), openWrite)
		if err != nil {
			return err
		}
		defer d.close()
		r, err := d.Restore(cmd.Context(), args[0], add, a.counter("restored", number))
		if err != nil {
			return err
		}
		if err := a.printRestored(r); err != nil {
			return err
		}
		if len(r.Damaged) > 0 {
			return &shownError{desk.CodeStoreCorrupt}
		}
		return nil
	}
	return cmd
}

func (a *app) printRestored(r *desk.Restored) error {
	if a.flags.json {
		return a.printJSON(wire.FromRestored(r))
	}
	a.say("restored %s; %d were there already; %s of deleted threads", plural(r.Threads, "thread"), r.Same, plural(r.Tombstones, "tombstone"))
	for _, d := range r.Damaged {
		a.say("hitl-tui: not restored, the backup is damaged: %s", d)
	}
	return nil
}
