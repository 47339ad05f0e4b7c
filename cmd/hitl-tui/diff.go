package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

func (a *app) diffCommand() *cobra.Command {
	return a.command("diff THREAD A [B]", "Compare the state at two steps", "Shows which keys of the state differ between step A and step B, or the head: what was added, removed and changed.",
		"hitl-tui diff 7f3k 2\nhitl-tui diff 7f3k 2 5 --json", cobra.RangeArgs(2, 3), func(cmd *cobra.Command, args []string) error {
			from, err := stepOf(args[1])
			if err != nil {
				return err
			}
			to := int64(-1)
			if len(args) == 3 {
				if to, err = stepOf(args[2]); err != nil {
					return err
				}
			}
			d, err := a.open(cmd.Context(), openRead)
			if err != nil {
				return err
			}
			defer d.close()
			if to < 0 {
				head, err := d.Open(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				to = head.Step
			}
			keys, err := d.Diff(cmd.Context(), args[0], from, to)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.printJSON(wire.Diff(keys))
			}
			a.printDiff(keys, from, to)
			return nil
		})
}

func stepOf(text string) (int64, error) {
	step, err := strconv.ParseInt(text, 10, 64)
	if err != nil || step < 0 {
		return 0, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("%q is no step", text), Remedy: "`hitl-tui history THREAD` lists them"}
	}
	return step, nil
}

// printDiff shows short values side by side and long ones as a unified diff. What is the same is not shown.
func (a *app) printDiff(keys []desk.KeyDiff, from, to int64) {
	differ := false
	for _, k := range keys {
		name, before, after := sanitize.Line(k.Key), sanitize.Text(readable(k.Before)), sanitize.Text(readable(k.After))
		short := !strings.Contains(before, "\n") && !strings.Contains(after, "\n")
		switch {
		case k.Kind == "same":
			continue
		case k.Kind == "added" && short:
			fmt.Fprintf(a.out, "+ %s: %s\n", name, after)
		case k.Kind == "removed" && short:
			fmt.Fprintf(a.out, "- %s: %s\n", name, before)
		case short:
			fmt.Fprintf(a.out, "~ %s: %s -> %s\n", name, before, after)
		default:
			fmt.Fprintf(a.out, "~ %s\n%s\n", name, indent(strings.TrimRight(unified(k, before, after, from, to), "\n")))
		}
		differ = true
	}
	if !differ {
		a.say("steps %d and %d have the same state", from, to)
	}
}

// unified is the diff of two texts. Of texts that are shown alike, as two spellings of a number may be, it is the JSON.
func unified(k desk.KeyDiff, before, after string, from, to int64) string {
	if before == after {
		before, after = string(k.Before), string(k.After)
	}
	return udiff.Unified(fmt.Sprintf("step %d", from), fmt.Sprintf("step %d", to), ended(k.Before, before), ended(k.After, after))
}

// ended ends the last line of a value that is there.
func ended(value json.RawMessage, text string) string {
	if value == nil {
		return ""
	}
	return text + "\n"
}
