package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/duration"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// exitTimedOut is what timeout(1) exits with.
const exitTimedOut = 124

// reached is what `wait --for` knows: a thread that has ended, or that needs a person, can come no further by itself.
func reached(name string) ([]string, error) {
	ended := append(desk.Finished.Statuses(), "failed")
	switch name {
	case "ended":
		return ended, nil
	case "waiting":
		return append(ended, "interrupted"), nil
	default:
		return nil, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("--for %s is neither ended nor waiting", name)}
	}
}

func (a *app) waitCommand() *cobra.Command {
	var goal, limit string
	cmd := a.command("wait THREAD...", "Wait until threads have ended, or wait for a person",
		`Waits until each thread has ended, with --for waiting until it has ended or asks something, whoever brings it there:
a desk, another command, another host. It then tells how each stands, and exits as run would have; 124 when the time
is over first. It runs nothing itself.`,
		"hitl-tui wait 7f3k && deploy\nhitl-tui wait 7f3k 9q2m --for waiting --timeout 10m --json", cobra.MinimumNArgs(1), nil)
	cmd.Flags().StringVar(&goal, "for", "ended", "ended, or waiting: asks something or has ended")
	fixed(cmd, "for", "ended", "waiting")
	cmd.Flags().StringVar(&limit, "timeout", "", "how long at most, such as 90s or 2h; for ever")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		statuses, err := reached(goal)
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		if limit != "" {
			most, err := positive("--timeout", limit)
			if err != nil {
				return err
			}
			timed, stop := context.WithTimeout(ctx, most)
			defer stop()
			ctx = timed
		}
		d, err := a.open(cmd.Context(), openRead)
		if err != nil {
			return err
		}
		defer d.close()
		results, err := a.await(ctx, d, args, statuses)
		if errors.Is(err, context.DeadlineExceeded) && cmd.Context().Err() == nil {
			a.say("hitl-tui: after %s %s not yet %s", limit, missing(args, len(results)), goal)
			return errors.Join(a.tellAll(results), &exitError{exitTimedOut})
		}
		if err != nil {
			return err
		}
		return a.reportAll(results)
	}
	return cmd
}

// await waits for one thread after the other; what came to rest meanwhile is there at once.
func (a *app) await(ctx context.Context, d *opened, threads, statuses []string) ([]desk.Result, error) {
	var results []desk.Result
	for _, thread := range threads {
		detail, err := d.Wait(ctx, thread, statuses, a.passing)
		if err != nil {
			return results, err
		}
		results = append(results, *detail.Result())
	}
	return results, nil
}

// passing tells what a thread that is waited for needs of somebody else.
func (a *app) passing(t desk.Thread) {
	switch t.Status {
	case "interrupted":
		a.say("%s %s waits for an answer: %s", sanitize.Line(t.Workflow), sanitize.Line(t.ID), sanitize.Line(firstLine(t.Title)))
	case "stalled":
		a.say("%s %s has stalled; `%s` carries it on", sanitize.Line(t.Workflow), sanitize.Line(t.ID), a.line("resume", t.ID))
	}
}

// missing names what was waited for and did not come.
func missing(threads []string, reached int) string {
	rest := threads[reached:]
	if len(rest) == 1 {
		return sanitize.Line(rest[0]) + " has"
	}
	return sanitize.Line(strings.Join(rest, ", ")) + " have"
}

// tellAll tells how several threads stand.
func (a *app) tellAll(results []desk.Result) error {
	if a.flags.json {
		envelopes := make([]wire.Envelope, len(results))
		for i := range results {
			envelopes[i] = wire.FromResult(&results[i])
		}
		return a.printJSON(envelopes)
	}
	for i := range results {
		a.printResult(&results[i])
	}
	return nil
}

// reportAll is tellAll with the exit code of the first thread whose own is not 0.
func (a *app) reportAll(results []desk.Result) error {
	if err := a.tellAll(results); err != nil {
		return err
	}
	for i := range results {
		if exit := wire.FromResult(&results[i]).ExitCode(a.distinct()); exit != desk.ExitOK {
			return &exitError{exit}
		}
	}
	return nil
}

func (a *app) claimCommand() *cobra.Command {
	var ttl string
	cmd := a.command("claim THREAD...", "Tell others that you are on a thread",
		`Claims threads for the reviewer. Lists show it, and whoever answers a thread that somebody else has claimed has to
say so (--steal). A claim ends by itself.`,
		"hitl-tui claim 7f3k\nhitl-tui claim 7f3k --ttl 2h --reviewer ana", cobra.MinimumNArgs(1), nil)
	cmd.Flags().StringVar(&ttl, "ttl", "30m", "for how long, such as 5m or 2h")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		span, err := positive("--ttl", ttl)
		if err != nil {
			return err
		}
		return a.eachThread(cmd.Context(), args, func(ctx context.Context, d *opened, thread string) (string, error) {
			return fmt.Sprintf("claimed by %s for %s", d.Reviewer(), ttl), d.Claim(ctx, thread, span)
		})
	}
	return cmd
}

func (a *app) releaseCommand() *cobra.Command {
	return a.command("release THREAD...", "Give a claim up", "Gives the reviewer's claims of threads up. A claim of somebody else stays.",
		"hitl-tui release 7f3k", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.eachThread(cmd.Context(), args, func(ctx context.Context, d *opened, thread string) (string, error) {
				return "released", d.Release(ctx, thread)
			})
		})
}

// eachThread does something to one thread after the other and tells, as a list with --json, how each then stands. It
// stops at the first that fails.
func (a *app) eachThread(ctx context.Context, threads []string, do func(context.Context, *opened, string) (string, error)) error {
	d, err := a.open(ctx, openExisting)
	if err != nil {
		return err
	}
	defer d.close()
	var rows []desk.Thread
	for _, thread := range threads {
		done, err := do(ctx, d, thread)
		if err != nil {
			return err
		}
		detail, err := d.Open(ctx, thread)
		if err != nil {
			return err
		}
		rows = append(rows, detail.Thread)
		if !a.flags.json {
			fmt.Fprintf(a.out, "%s %s %s\n", sanitize.Line(detail.Workflow), sanitize.Line(detail.ID), sanitize.Line(done))
		}
	}
	if a.flags.json {
		return a.printJSON(wire.Threads(rows))
	}
	return nil
}

// positive reads a duration above zero.
func positive(flag, text string) (time.Duration, error) {
	d, err := duration.Parse(text)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%s is not above zero", text)
	}
	if err != nil {
		return 0, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("%s: %v", flag, err), Err: err}
	}
	return d, nil
}
