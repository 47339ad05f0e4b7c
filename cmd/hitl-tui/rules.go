package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/config"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/hook"
	"github.com/hitl-tui/hitl-tui/internal/rule"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui"
)

// rulesOf makes the desk's rules of the configured ones. A condition that is none is a mistake of the file.
func rulesOf(c *config.Config) ([]desk.Rule, error) {
	var all []desk.Rule
	var faults []config.Fault
	for i, r := range c.Rules {
		holds, bad := condition(r.When, fmt.Sprintf("rules[%d].when", i))
		faults = append(faults, bad...)
		all = append(all, desk.Rule{Name: r.Name, When: r.When.Text, If: holds, Action: r.Action, Data: r.Data, Grace: r.Grace})
	}
	if len(faults) > 0 {
		return nil, &config.Error{File: c.File, Faults: faults}
	}
	return all, nil
}

// viewsOf are the configured views. A filter that is none is a mistake of the file.
func viewsOf(c *config.Config) ([]ui.View, error) {
	var all []ui.View
	for _, v := range c.Views {
		if _, err := desk.ParseFilter(v.Filter, time.Now()); err != nil {
			return nil, fmt.Errorf("%s: views, %s: %w", c.File, v.Name, err)
		}
		all = append(all, ui.View{Name: v.Name, Filter: v.Filter, Tab: desk.Tab(v.Tab), Sort: v.Sort})
	}
	return all, nil
}

func condition(e config.Expression, what string) (desk.Condition, []config.Fault) {
	c, faults := rule.Compile(e.Text)
	var bad []config.Fault
	for _, f := range faults {
		bad = append(bad, e.Fault(f.Offset, f.At(what)))
	}
	return c, bad
}

// hooksOf makes the desk's hooks of the configured ones.
func (a *app) hooksOf(c *config.Config) ([]desk.Hook, error) {
	var all []desk.Hook
	var faults []config.Fault
	for i, h := range c.Hooks {
		x := desk.Hook{Name: h.Name, Run: a.hookRun(h, c)}
		if h.When.Text != "" {
			holds, bad := condition(h.When, fmt.Sprintf("hooks[%d].when", i))
			x.If = holds
			faults = append(faults, bad...)
		}
		all = append(all, x)
	}
	if len(faults) > 0 {
		return nil, &config.Error{File: c.File, Faults: faults}
	}
	return all, nil
}

// hookRun runs a hook's program with the question as people may see it.
func (a *app) hookRun(h config.Hook, c *config.Config) func(context.Context, desk.Question) error {
	p := hook.Program{Argv: h.Run, Timeout: h.Timeout, Env: os.Environ()}
	return func(ctx context.Context, q desk.Question) error {
		q = desk.MaskQuestion(c.Redact, q)
		told, err := json.Marshal(wire.Questions([]desk.Question{q})[0])
		if err != nil {
			return err
		}
		return p.Run(ctx, told, "HITL_THREAD="+q.Thread, "HITL_QUESTION="+q.ID, "HITL_WORKFLOW="+sanitize.Line(q.Workflow), "HITL_NODE="+sanitize.Line(q.Node),
			"HITL_TITLE="+sanitize.Line(q.Title), "HITL_STORE="+a.store)
	}
}

func (a *app) rulesCommand() *cobra.Command {
	return a.command("rules", "Say what the rules would answer now",
		`Lists the rules of the configuration and the open questions that each would answer now, in order, and those that it leaves to people with the
reason. Nothing is answered: rules are applied by an open desk only.`,
		"hitl-tui rules\nhitl-tui rules --json", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
			d, err := a.open(cmd.Context(), openRead)
			if err != nil {
				return err
			}
			defer d.close()
			trials, err := d.TryRules(cmd.Context())
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.printJSON(wire.RuleTrials(trials))
			}
			a.printRules(d.setup.rules, trials)
			return nil
		})
}

func (a *app) printRules(rules []desk.Rule, trials []desk.RuleTrial) {
	if len(rules) == 0 {
		a.say("there are no rules; docs/rules.md says how to write one")
		return
	}
	for _, r := range rules {
		fmt.Fprintf(a.out, "%s  %s when %s\n", r.Name, r.Action, sanitize.Line(r.When))
		for _, x := range trials {
			if x.Rule != r.Name {
				continue
			}
			line := fmt.Sprintf("  %s %s  %s", x.Question.Thread, sanitize.Line(x.Question.Address), sanitize.Line(x.Question.Title))
			if x.Why != "" {
				line += "  (left to people: " + sanitize.Line(x.Why) + ")"
			}
			fmt.Fprintln(a.out, line)
		}
	}
}
