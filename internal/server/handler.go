package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// call is one request on its way through a route.
type call struct {
	server *Server
	route  *route
	w      http.ResponseWriter
	r      *http.Request
	desk   *desk.Masked // as whoever asks may see it
	scope  scope
}

// errGone says that the client has left: nobody is there to be answered.
var errGone = errors.New("the client has left")

// statusGone is how a request whose client has left is logged and counted.
const statusGone = 499

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for i := range s.routes {
		route := &s.routes[i]
		mux.Handle(route.method+" "+route.path, s.serve(route))
		methods[route.path] = append(methods[route.path], route.method)
		if route.method == http.MethodGet {
			methods[route.path] = append(methods[route.path], http.MethodHead)
		}
	}
	for path, known := range methods {
		mux.Handle(path, s.serve(&route{path: path, scope: read, do: otherMethod(append(known, http.MethodOptions))}))
	}
	mux.Handle("/", s.serve(&route{path: "/", scope: read, do: unknownPath}))
	return s.observed(mux)
}

// otherMethod answers what a path has no route for.
func otherMethod(known []string) func(*call) (reply, error) {
	slices.Sort(known)
	allow := strings.Join(known, ", ")
	return func(c *call) (reply, error) {
		c.w.Header().Set("Allow", allow)
		if c.r.Method == http.MethodOptions {
			return reply{status: http.StatusNoContent}, nil
		}
		return reply{}, &statusError{&desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("%s is not for %s", c.r.Method, c.r.URL.Path), Remedy: "use " + allow}, http.StatusMethodNotAllowed}
	}
}

func unknownPath(c *call) (reply, error) {
	return reply{}, &desk.Error{Code: desk.CodeNotFound, Message: "there is nothing at " + c.r.URL.Path, Remedy: "GET /openapi.json lists what there is"}
}

// serve answers the requests of a route.
func (s *Server) serve(to *route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{server: s, route: to, w: w, r: r}
		p, err := c.answer()
		switch {
		case errors.Is(err, errGone):
			w.(*recorder).gone = true
		case err != nil:
			s.send(w, s.problem(err))
		case p.status != 0:
			s.send(w, p)
		}
	})
}

func (c *call) answer() (reply, error) {
	if err := c.admit(); err != nil {
		return reply{}, err
	}
	if err := c.checkQuery(); err != nil {
		return reply{}, err
	}
	return c.route.do(c)
}

// admit finds out what whoever asks may do, and refuses what they may not.
func (c *call) admit() error {
	scope, given, wrong := c.server.guard.scopeOf(c.r, c.route.agentmap)
	c.scope, c.desk = scope, c.server.masked
	c.w.(*recorder).scope = scope
	if scope == write {
		c.desk = c.server.whole
	}
	refused := func(status int, message, remedy string) error {
		return &statusError{&desk.Error{Code: desk.CodeUnauthorised, Message: message, Remedy: remedy}, status}
	}
	switch {
	case wrong != nil:
		return refused(http.StatusUnauthorized, wrong.Error(), "")
	case scope == nothing:
		return refused(http.StatusUnauthorized, "this needs a token", "send it as Authorization: Bearer TOKEN")
	case c.route.scope == write && c.server.desk.ReadOnly():
		return refused(http.StatusForbidden, "this server is read-only", "start it without --read-only")
	case c.route.scope == write && !given:
		return refused(http.StatusUnauthorized, "this needs the token that may write", "send it as Authorization: Bearer TOKEN")
	case c.route.scope == write && scope != write:
		return refused(http.StatusForbidden, "this token may only read", "use the one that may write")
	}
	return nil
}

// checkQuery refuses parameters that the route does not have: one that is misspelt would be lost without a word.
func (c *call) checkQuery() error {
	var known []string
	for _, p := range c.route.query {
		known = append(known, p.name)
	}
	for name := range c.r.URL.Query() {
		if !slices.Contains(known, name) {
			return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("unknown parameter %q%s", name, nearest.Hint(name, known))}
		}
	}
	return nil
}

// whole is the id of the thread that the address names.
func (c *call) whole() (string, error) {
	id := c.r.PathValue("id")
	return id, c.desk.Whole(c.r.Context(), id)
}

// recorder notes what is written, for the log and the metrics.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
	scope  scope
	gone   bool
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// observed logs and counts requests, turns a panic into an answer, and refuses paths that say one thing in two ways.
func (s *Server) observed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := s.o.Now()
		out := &recorder{ResponseWriter: w}
		out.Header().Set("Cache-Control", "no-store")
		out.Header().Set("X-Content-Type-Options", "nosniff")
		s.metrics.began()
		defer func() {
			if p := recover(); p != nil {
				s.o.Log.Error("a bug", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				if out.status == 0 {
					s.send(out, s.problem(&desk.Error{Code: desk.CodeInternal, Message: "a bug in the server; its log tells more"}))
				}
			}
			s.ended(out, r, s.o.Now().Sub(began))
		}()
		if r.URL.Path != "/" && path.Clean(r.URL.Path) != r.URL.Path || !strings.HasPrefix(r.URL.Path, "/") {
			s.serve(&route{path: "/", scope: read, do: unknownPath}).ServeHTTP(out, r)
			return
		}
		mux.ServeHTTP(out, r)
	})
}

func (s *Server) ended(w *recorder, r *http.Request, took time.Duration) {
	status := w.status
	if w.gone {
		status = statusGone
	}
	route := r.Pattern
	if method, path, both := strings.Cut(route, " "); both && method != "" {
		route = path
	}
	if route == "" {
		route = "/"
	}
	s.metrics.ended(route, r.Method, status, took)
	// The query stays out: a filter may hold anything.
	s.o.Log.LogAttrs(context.WithoutCancel(r.Context()), slog.LevelInfo, "request", slog.String("method", r.Method),
		slog.String("path", r.URL.EscapedPath()), slog.Int("status", status), slog.Int64("bytes", w.bytes),
		slog.Float64("ms", float64(took.Microseconds())/1000), slog.String("scope", w.scope.String()), slog.String("remote", r.RemoteAddr))
}
