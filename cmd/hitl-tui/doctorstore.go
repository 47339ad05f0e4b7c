package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// From where on free space and a log are worth a word.
const (
	muchFree = 16 << 20
	longLog  = 64 << 20
)

// inStore looks at the store and all that is in it.
func (x *examination) inStore(ctx context.Context, d *opened) {
	info, err := d.Info(ctx)
	if err != nil {
		x.fail("store", err, "")
		return
	}
	x.ok("store", "%s, schema %d", info.URL, info.Schema)
	for _, w := range info.Warnings {
		text, remedy, _ := strings.Cut(w, "; ")
		x.add("permissions", levelProblem, remedy, "%s", text)
	}
	if len(info.Warnings) == 0 {
		x.ok("permissions", "its owner's alone")
	}
	seen, err := d.Inspect(ctx, !x.quick, x.counter("threads", number))
	if err != nil {
		x.fail("integrity", err, "")
		return
	}
	x.integrity(seen)
	x.space(info, seen)
	would := x.retention(ctx, d)
	x.threads(ctx, d)
	x.programs(ctx, d.store)
	x.store = wire.FromInspection(info, seen, would)
}

func (x *examination) integrity(seen *desk.Inspection) {
	for _, f := range seen.Faults {
		remedy := "`hitl-tui restore` brings a backup back"
		if f.Thread != "" {
			remedy = "restore this thread from a backup, or `hitl-tui delete " + f.Thread + "`; the others stay readable"
		}
		x.add("integrity", levelProblem, remedy, "%s", f.Text)
	}
	if len(seen.Faults) > 0 {
		return
	}
	states := "every state rebuilt"
	if !seen.States {
		states = "states not rebuilt"
	}
	x.ok("integrity", "%s of %s read, %s; %s, chains unbroken", plural(seen.Steps, "step"), plural(seen.Threads, "thread"), states, plural(seen.Decisions, "decision"))
}

func (x *examination) space(info desk.StoreInfo, seen *desk.Inspection) {
	text := fmt.Sprintf("%s, of which %s are free", size(info.Bytes), size(info.FreeBytes))
	if info.FreeBytes > muchFree || info.FreeBytes > 1<<20 && info.FreeBytes > info.Bytes/4 {
		x.add("size", levelNote, "`hitl-tui compact` gives them back", "%s", text)
	} else {
		x.ok("size", "%s", text)
	}
	switch {
	case info.LogBytes > longLog:
		x.add("log", levelNote, "close what reads for long, such as a backup; it shrinks by itself then", "the write-ahead log is %s", size(info.LogBytes))
	case info.LogBytes > 0: // not every store has one
		x.ok("log", "the write-ahead log is %s", size(info.LogBytes))
	}
	x.ok("growth", "%s a day, over the last %s", size(seen.PerDay()), age(seen.Window))
}

// retention counts what could be pruned.
func (x *examination) retention(ctx context.Context, d *opened) desk.Retained {
	rule, configured := d.setup.deskRetention(), true
	if rule == (desk.Retention{}) {
		rule, configured = prunableAfter, false
	}
	would, err := d.Prunable(ctx, rule)
	if desk.Code(err) == desk.CodeStoreCorrupt {
		x.add("retention", levelNote, "see to integrity first", "what could go cannot be counted while something is damaged")
		return would
	}
	if err != nil {
		x.fail("retention", err, "")
		return would
	}
	var bounds, commands []string
	if rule.OlderThan > 0 {
		bounds = append(bounds, "steps older than "+age(rule.OlderThan))
		commands = append(commands, "`hitl-tui prune --all --older-than "+age(rule.OlderThan)+" --dry-run`")
	}
	if rule.FinishedBefore > 0 {
		bounds = append(bounds, "threads that ended "+age(rule.FinishedBefore)+" ago")
		commands = append(commands, "`hitl-tui prune --all --finished-before "+age(rule.FinishedBefore)+" --dry-run`")
	}
	text := fmt.Sprintf("%s and %s could go (%s): %s", plural(would.Steps, "step"), plural(would.Threads, "whole thread"), size(would.Bytes), strings.Join(bounds, ", "))
	switch {
	case configured:
		x.ok("retention", "the desk and `hitl-tui sweep` prune by themselves; %s", text)
	case would.Steps+would.Threads > 0:
		x.add("retention", levelNote, strings.Join(commands, " and "), "%s", text)
	default:
		x.ok("retention", "nothing is old: %s", strings.Join(bounds, ", "))
	}
	return would
}

func (x *examination) threads(ctx context.Context, d *opened) {
	counts, err := d.Counts(ctx)
	if err != nil {
		x.fail("threads", err, "")
		return
	}
	text := fmt.Sprintf("%d wait, %d run, %d failed or stalled, %d ended", counts[desk.Waiting], counts[desk.Running], counts[desk.Failed], counts[desk.Finished])
	if counts[desk.Failed] > 0 {
		x.add("threads", levelNote, "`hitl-tui threads --status failed --status stalled`, then `hitl-tui resume`", "%s", text)
		return
	}
	x.ok("threads", "%s", text)
}

// programs looks for the programs that threads which can go on will start. Only those named alone or by a whole path
// are looked for: others depend on the folder a thread runs in.
func (x *examination) programs(ctx context.Context, store checkpoint.Store) {
	missing, err := missingPrograms(ctx, store)
	if err != nil {
		x.fail("programs", err, "")
		return
	}
	for _, m := range missing {
		x.add("programs", levelProblem, "install it, or add its folder to PATH", "%s", m)
	}
	if len(missing) == 0 {
		x.ok("programs", "all are there that waiting threads name")
	}
}

// missingPrograms tells which program of which workflow is not to be found.
func missingPrograms(ctx context.Context, store checkpoint.Store) ([]string, error) {
	var missing []string
	known := map[string]bool{"": true} // fingerprints
	q := checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted, checkpoint.Sleeping, checkpoint.Failed, checkpoint.Stalled}, Sort: checkpoint.SortName, Limit: 500}
	for {
		page, err := store.Threads(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Threads {
			if known[t.Fingerprint] {
				continue
			}
			known[t.Fingerprint] = true
			definition, err := store.Definition(ctx, t.Fingerprint)
			if err != nil {
				continue // told by the inspection
			}
			for _, program := range programsOf(definition) {
				if _, err := exec.LookPath(program); err != nil {
					missing = append(missing, fmt.Sprintf("%s needs %s, which is not to be found", definition.Workflow, program))
				}
			}
		}
		if q.After = page.Next; q.After == "" {
			slices.Sort(missing)
			return slices.Compact(missing), nil
		}
	}
}

// programsOf are the programs that a workflow's files start by name or whole path.
func programsOf(d *checkpoint.Definition) []string {
	var found []string
	var walk func(v any)
	walk = func(v any) {
		switch t := v.(type) {
		case map[string]any:
			if words, ok := t["exec"].([]any); ok && len(words) > 0 {
				name, _ := words[0].(string)
				plain := name != "" && !strings.Contains(name, "{{")
				if plain && (filepath.IsAbs(name) || !strings.ContainsAny(name, `/\`)) {
					found = append(found, name)
				}
			}
			for _, item := range t {
				walk(item)
			}
		case []any:
			for _, item := range t {
				walk(item)
			}
		}
	}
	for _, f := range d.Files {
		var v any
		if yaml.Unmarshal([]byte(f.Text), &v) == nil {
			walk(v)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
