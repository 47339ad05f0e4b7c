package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

func (a *app) compactCommand() *cobra.Command {
	return a.command("compact", "Give the store's free space back", `Gives the space of what was deleted back to the file system, in small bites beside whoever writes.
A prune leaves it free for what comes next; this makes the store smaller.`,
		"hitl-tui compact", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			d, err := a.open(cmd.Context(), openExisting)
			if err != nil {
				return err
			}
			defer d.close()
			before, err := d.Info(cmd.Context())
			if err != nil {
				return err
			}
			if err := d.Compact(cmd.Context(), a.counter("given back", size)); err != nil {
				return err
			}
			after, err := d.Info(cmd.Context())
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.printJSON(wire.Compacted{BeforeBytes: before.Bytes, AfterBytes: after.Bytes})
			}
			fmt.Fprintf(a.out, "%s before, %s now\n", size(before.Bytes), size(after.Bytes))
			return nil
		})
}

// retain applies the configured retention in a sweep and says what went.
func (a *app) retain(cmd *cobra.Command, d *opened) error {
	done, err := d.Retain(cmd.Context())
	if done.Steps+done.Threads > 0 {
		a.say("%v", done)
	}
	if len(done.Skipped) > 0 {
		a.say("left alone because they run: %s", strings.Join(done.Skipped, ", "))
	}
	return err
}

// counter shows the progress of long work on a terminal, as a bar behind what was done. unit writes a number.
func (a *app) counter(what string, unit func(int64) string) func(done, total int64) {
	if !a.errTTY || a.flags.quiet {
		return nil
	}
	const width = 24
	shown := -1
	return func(done, total int64) {
		if total <= 0 {
			return
		}
		full := int(min(done, total) * width / total)
		if full == shown && done < total {
			return
		}
		shown = full
		fmt.Fprintf(a.err, "\r[%s%s] %s %s of %s\x1b[K", strings.Repeat("#", full), strings.Repeat("-", width-full), what, unit(done), unit(total))
		if done >= total {
			fmt.Fprintln(a.err)
		}
	}
}

// number is a count as it is.
func number(n int64) string { return fmt.Sprint(n) }

// retention is what the configuration has a desk prune by itself.
func (s setup) deskRetention() desk.Retention { return desk.Retention(s.retention) }
