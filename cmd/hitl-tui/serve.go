package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"

	"github.com/spf13/cobra"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/server"
)

func (a *app) serveCommand() *cobra.Command {
	var address, drain string
	var o server.Options
	cmd := a.command("serve", "Serve the desk over HTTP",
		`Answers HTTP: starts workflows of the configured folders, lists threads and questions, takes answers and runs threads on,
and streams what happens. GET /openapi.json describes it. Deadlines and timers that fall due are applied meanwhile.

HITL_TUI_TOKEN is the token that may do everything, HITL_TUI_READ_TOKEN one that may only read and sees secrets masked. On
this host reading needs no token; beyond it (--addr 0.0.0.0:8321) everything does, and somebody else has to see to TLS.
Without HITL_TUI_TOKEN a fresh one is made and shown, on a terminal only.

Requests are logged to standard error, unless --quiet. SIGTERM or Ctrl-C ends the server: what runs gets --drain to come to
rest; what does not is left stalled, its answers kept.`,
		`hitl-tui serve
HITL_TUI_TOKEN=$(openssl rand -hex 32) hitl-tui serve --addr 0.0.0.0:8321
hitl-tui serve --read-only`,
		cobra.NoArgs, nil)
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:8321", "address and port to serve on; port 0 takes a free one")
	cmd.Flags().StringVar(&drain, "drain", "10s", "how long what runs may go on once the server is to end")
	cmd.Flags().IntVar(&o.Runs, "max-runs", server.DefaultRuns, "how many starts and resumes may run at once; what is more is answered 503")
	cmd.Flags().IntVar(&o.Watchers, "max-watchers", server.DefaultWatchers, "how many streams of events may be open at once; what is more is answered 503")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		patience, err := desk.ParseSpan(drain)
		if err != nil {
			return &desk.Error{Code: desk.CodeUsage, Message: "--drain: " + err.Error(), Err: err}
		}
		o.Drain = patience
		if o.Runs < 1 || o.Watchers < 1 {
			return &desk.Error{Code: desk.CodeUsage, Message: "--max-runs and --max-watchers must be 1 or more"}
		}
		return a.serve(cmd.Context(), address, o)
	}
	return cmd
}

func (a *app) serve(ctx context.Context, address string, o server.Options) error {
	o.WriteToken, o.ReadToken, o.Version = a.getenv("HITL_TUI_TOKEN"), a.getenv("HITL_TUI_READ_TOKEN"), versionText()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return &desk.Error{Code: desk.CodeUsage, Message: "cannot serve on " + address, Remedy: err.Error() + "; give another --addr", Err: err}
	}
	defer listener.Close()
	fresh, err := a.freshToken(&o, listener.Addr())
	if err != nil {
		return err
	}
	d, err := a.open(ctx, openWrite)
	if err != nil {
		return err
	}
	defer d.close()
	o.Redact, o.Log = d.setup.redact, a.accessLog(d.setup)
	s, err := server.New(d.Desk, o)
	if err != nil {
		return err
	}
	defer a.keepTime(ctx, d)()
	if fresh {
		fmt.Fprintf(a.err, "the token that may write, until this ends: %s\n", o.WriteToken)
	}
	a.say("serving on http://%s", listener.Addr())
	return s.Serve(ctx, listener)
}

// freshToken makes a token where one is needed and none is given: for writing, and beyond this host for reading, too.
func (a *app) freshToken(o *server.Options, address net.Addr) (made bool, err error) {
	tcp, is := address.(*net.TCPAddr)
	here := is && tcp.IP.IsLoopback()
	switch {
	case o.WriteToken != "", a.flags.readOnly && (here || o.ReadToken != ""):
		return false, nil
	case !a.errTTY:
		return false, &desk.Error{Code: desk.CodeUsage, Message: "no token is given",
			Remedy: "set HITL_TUI_TOKEN, such as to the output of `openssl rand -hex 32`; on a terminal a fresh one is made and shown"}
	}
	o.WriteToken = rand.Text()
	return true, nil
}

// accessLog logs requests, and with --quiet only what went wrong.
func (a *app) accessLog(s setup) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelInfo}
	if a.flags.quiet {
		o.Level = slog.LevelWarn
	}
	var handler slog.Handler = slog.NewTextHandler(a.err, o)
	if a.flags.json {
		handler = slog.NewJSONHandler(a.err, o)
	}
	return slog.New(s.redact.Handler(handler))
}
