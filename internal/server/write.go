package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// job is what a request wants to have done, as the runs do it.
type job struct {
	thread string
	raw    []byte // of the request
	do     func(ctx context.Context, r *run) (*desk.Result, error)
	kept   func(ctx context.Context) bool // whether what was asked for is kept by now
	shape  func(ctx context.Context, r *desk.Result) (any, error)
}

// envelope is the shape of the answer to a start and to a resume, as the command line prints it.
func envelope(_ context.Context, r *desk.Result) (any, error) { return wire.FromResult(r), nil }

// launch does a job beside the request and waits for its end; with Prefer: respond-async until it is accepted. The client may
// leave: the job goes on.
func (c *call) launch(j job) (reply, error) {
	key, err := idempotencyKey(c.r)
	if err != nil {
		return reply{}, err
	}
	if key != "" {
		key = c.r.Method + " " + c.r.URL.Path + "\x00" + key
	}
	r, old, err := c.server.runs.begin(key, sha256.Sum256(j.raw), func(ctx context.Context, r *run) (reply, error) {
		result, err := j.do(ctx, r)
		if err != nil {
			return reply{}, c.server.about(ctx, j.thread, err)
		}
		shaped, err := j.shape(ctx, result)
		if err != nil {
			return reply{}, err
		}
		p, err := jsonReply(http.StatusOK, shaped)
		return p.with("Location", threadPath(result.Thread)), err
	})
	if err != nil {
		return reply{}, err
	}
	patiently(c.w)
	var hint <-chan struct{}
	if prefersAsync(c.r) {
		hint = r.hint
	}
	for {
		select {
		case <-r.done:
			if old && r.err == nil {
				return r.reply.with("Idempotency-Replayed", "true"), nil
			}
			return r.reply, r.err
		case <-hint:
			hint = nil // what comes next is the end
			if j.kept(c.r.Context()) {
				return c.accepted(j.thread)
			}
		case <-c.r.Context().Done():
			return reply{}, errGone
		}
	}
}

// accepted answers that what was asked for is kept and goes on.
func (c *call) accepted(thread string) (reply, error) {
	detail, err := c.desk.Open(c.r.Context(), thread)
	if err != nil {
		return reply{}, err
	}
	p, err := jsonReply(http.StatusAccepted, wire.FromResult(detail.Result()))
	return p.with("Location", threadPath(thread)).with("Preference-Applied", "respond-async"), err
}

// about adds to an error where the thread stands.
func (s *Server) about(ctx context.Context, thread string, err error) error {
	if desk.Code(err) == desk.CodeNotFound {
		return err
	}
	// Where the thread cannot be read, the refusal alone is told: it says why.
	stands, e := s.whole.Open(context.WithoutCancel(ctx), thread)
	if e != nil {
		return err
	}
	return &refusal{err, stands}
}

func threadPath(id string) string { return "/v1/threads/" + url.PathEscape(id) }

// prefersAsync reports whether the client would rather not wait (RFC 7240).
func prefersAsync(r *http.Request) bool {
	for _, line := range r.Header.Values("Prefer") {
		for part := range strings.SplitSeq(line, ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}

func idempotencyKey(r *http.Request) (string, error) {
	all := r.Header.Values("Idempotency-Key")
	if len(all) == 0 {
		return "", nil
	}
	key := all[0]
	if len(all) > 1 || key == "" || len(key) > actions.MaxThreadID || strings.ContainsFunc(key, unicode.IsControl) {
		return "", &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("Idempotency-Key must be one text of 1 to %d bytes", actions.MaxThreadID)}
	}
	return key, nil
}

// resume is POST /v1/threads/{id}/resume.
func resume(c *call) (reply, error) {
	raw, err := body(c.w, c.r)
	if err != nil {
		return reply{}, err
	}
	b, err := actions.ParseBody(raw)
	if err != nil {
		return reply{}, err
	}
	return c.resumeWith(raw, b, envelope)
}

// resumeWith answers the thread that the address names.
func (c *call) resumeWith(raw []byte, b actions.Body, shape func(context.Context, *desk.Result) (any, error)) (reply, error) {
	thread, err := c.whole()
	if err != nil {
		return reply{}, err
	}
	request := desk.AnswerRequest{Thread: thread, Version: b.IfVersion, Reviewer: b.Reviewer, Steal: b.Steal}
	for i, a := range b.Answers {
		request.Decisions = append(request.Decisions, desk.Decision{
			Thread: thread, Question: a.InterruptID, Action: string(a.Action), Data: a.Data, Version: b.IfVersion, Reviewer: b.Reviewer,
			ResponseID: cmp.Or(a.ResponseID, c.derived(raw, fmt.Sprint("response ", i)), c.server.o.NewID()), Steal: b.Steal,
		})
	}
	own := request.Decisions[0].ResponseID
	first := b.Answers[0]
	bare := len(b.Answers) == 1 && first.Action == "" && first.Data == nil && first.InterruptID == ""
	return c.launch(job{
		thread: thread, raw: raw, shape: shape,
		do: func(ctx context.Context, r *run) (*desk.Result, error) {
			request := request
			request.Decisions = slices.Clone(request.Decisions)
			request.Accepted = r.hinted
			if bare { // a thread that is carried on accepts no answer
				request.Progress = func(desk.Event) { r.hinted() }
			}
			return c.server.whole.AnswerWith(ctx, request, false)
		},
		kept: func(ctx context.Context) bool { return c.server.kept(ctx, thread, own, bare) },
	})
}

// kept reports whether an answer is part of the record by now, and so will not be refused any more. A bare one may have
// carried the thread on instead.
func (s *Server) kept(ctx context.Context, thread, response string, bare bool) bool {
	const latest = 32 // among which that of a moment ago is
	rows, err := s.whole.Decisions(ctx, thread, latest)
	if err != nil {
		return false
	}
	if slices.ContainsFunc(rows, func(row desk.DecisionRow) bool { return row.Response == response }) {
		return true
	}
	if !bare {
		return false
	}
	detail, err := s.whole.Open(ctx, thread)
	return err == nil && detail.Status == "running" && len(detail.Accepted) == 0
}

// derived makes an id of the Idempotency-Key and the request it stands for, the same in every process, so that a repeat is
// known after a restart, too; "" without a key.
func (c *call) derived(raw []byte, what string) string {
	key := c.r.Header.Get("Idempotency-Key")
	if key == "" {
		return ""
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", what, c.r.URL.Path, key, raw))
	return "key-" + hex.EncodeToString(sum[:16])
}

// start is POST /v1/runs.
func start(c *call) (reply, error) {
	raw, err := body(c.w, c.r)
	if err != nil {
		return reply{}, err
	}
	var b struct {
		workflow, thread string
		input            map[string]json.RawMessage
	}
	err = readMembers(raw, []member{
		{"workflow", textInto(&b.workflow)}, {"input", objectInto(&b.input)}, {"thread_id", textInto(&b.thread)},
	})
	if err == nil && b.workflow == "" {
		err = &desk.Error{Code: desk.CodeUsage, Message: "body: workflow is required", Remedy: "name one of the configured folders"}
	}
	if err != nil {
		return reply{}, err
	}
	return c.startWith(raw, desk.StartRequest{File: b.workflow, Input: b.input, Thread: b.thread}, envelope)
}

// startWith starts a workflow of the configured folders.
func (c *call) startWith(raw []byte, request desk.StartRequest, shape func(context.Context, *desk.Result) (any, error)) (reply, error) {
	request.Named = true
	derived := ""
	if request.Thread == "" {
		if derived = c.derived(raw, "thread"); derived != "" {
			derived = uuid.NewHash(sha256.New(), uuid.NameSpaceURL, []byte(derived), 8).String()
		}
		request.Thread = cmp.Or(derived, c.server.o.NewID())
	}
	if err := actions.CheckNewThreadID(request.Thread); err != nil {
		return reply{}, err
	}
	return c.launch(job{
		thread: request.Thread, raw: raw, shape: shape,
		do: func(ctx context.Context, r *run) (*desk.Result, error) {
			release, err := c.server.runs.claim(request.Thread)
			if err != nil {
				return nil, err
			}
			defer release()
			request := request
			request.Progress = func(desk.Event) { r.hinted() }
			result, err := c.server.whole.Start(ctx, request, false)
			if desk.Code(err) == desk.CodeConflict && derived != "" {
				return c.server.startedBefore(ctx, derived, err)
			}
			return result, err
		},
		kept: func(ctx context.Context) bool { return c.server.whole.Whole(ctx, request.Thread) == nil },
	})
}

// startedBefore is the result of a start that another process did under the same key.
func (s *Server) startedBefore(ctx context.Context, thread string, conflict error) (*desk.Result, error) {
	detail, err := s.whole.Open(ctx, thread)
	if err != nil {
		return nil, conflict
	}
	result := detail.Result()
	result.AlreadyApplied = true
	return result, nil
}

// member is one key of a body and how it is read.
type member struct {
	name string
	read func(name string, raw json.RawMessage) error
}

// readMembers reads a body by a table of its keys. A null counts as absent.
func readMembers(raw []byte, members []member) error {
	object, err := actions.Object(raw)
	if err != nil {
		return err
	}
	known := make([]string, len(members))
	for i, m := range members {
		known[i] = m.name
	}
	for name := range object {
		if !slices.Contains(known, name) {
			return &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("body: unknown key %q%s (the keys are %s)", name, nearest.Hint(name, known), strings.Join(known, ", "))}
		}
	}
	for _, m := range members {
		if value, given := object[m.name]; given && string(value) != "null" {
			if err := m.read(m.name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func textInto(to *string) func(string, json.RawMessage) error {
	return func(name string, raw json.RawMessage) error {
		if json.Unmarshal(raw, to) != nil || *to == "" {
			return &desk.Error{Code: desk.CodeUsage, Message: "body: " + name + " must be a text that is not empty"}
		}
		return nil
	}
}

func objectInto(to *map[string]json.RawMessage) func(string, json.RawMessage) error {
	return func(name string, raw json.RawMessage) error {
		if json.Unmarshal(raw, to) != nil {
			return &desk.Error{Code: desk.CodeUsage, Message: "body: " + name + " must be an object"}
		}
		return nil
	}
}
