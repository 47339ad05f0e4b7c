package local

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// Check validates as Answer would and changes nothing.
func (s *Source) Check(ctx context.Context, r desk.AnswerRequest) error {
	request, err := s.request(ctx, r)
	if err != nil {
		return err
	}
	return s.told(ctx, request, s.engine.Check(ctx, request))
}

// Answer takes the decisions and runs the thread on until it rests.
func (s *Source) Answer(ctx context.Context, r desk.AnswerRequest) (*desk.Result, error) {
	request, err := s.request(ctx, r)
	if err != nil {
		return nil, err
	}
	defer s.listen(r.Thread, hearing{accepted: r.Accepted, progress: r.Progress})()
	run, done := engineContext(ctx)
	defer done()
	out, err := s.engine.Resume(run, request)
	s.engine.Heard()
	if err != nil {
		return nil, s.told(ctx, request, err)
	}
	return s.rested(ctx, out), nil
}

// rested is how a run came to rest. Where it was stopped on the way, what its step asked and a person has answered since is
// open no more, as in Open.
func (s *Source) rested(ctx context.Context, out *engine.Outcome) *desk.Result {
	r := resultOf(out, s.now())
	if !r.Interrupted || out.Status != checkpoint.Stalled && out.Status != checkpoint.Running {
		return r
	}
	// Where it cannot be read any more, the outcome alone is told: it has happened.
	if d, err := s.Open(context.WithoutCancel(ctx), r.Thread); err == nil && d.Step == r.Step {
		r.Questions, r.Interrupted = d.Questions, len(d.Questions) > 0
	}
	return r
}

// request turns a request of the desk into one of the engine.
func (s *Source) request(ctx context.Context, r desk.AnswerRequest) (engine.ResumeRequest, error) {
	request := engine.ResumeRequest{Thread: r.Thread, By: r.Reviewer, Steal: r.Steal, CarryOn: r.CarryOn, Wait: r.Wait}
	if r.Version != "" {
		v, err := parseVersion(r.Version)
		if err != nil {
			return request, err
		}
		request.IfVersion = &v
	}
	for _, x := range r.Decisions {
		request.Answers = append(request.Answers, engine.Answer{
			Interrupt: x.Question, Action: x.Action, Data: x.Data, ResponseID: x.ResponseID, Reviewer: x.Reviewer,
			DecidedAt: x.DecidedAt, ShownHash: x.Shown,
		})
	}
	if !r.Upgrade {
		return request, nil
	}
	d, err := s.presentDefinition(ctx, r.Thread)
	request.Upgrade = d
	return request, err
}

func parseVersion(text string) (checkpoint.Version, error) {
	v, err := checkpoint.ParseVersion(text)
	if err != nil {
		return v, &desk.Error{Code: desk.CodeUsage, Message: err.Error(), Err: err}
	}
	return v, nil
}

// presentDefinition reads again the file from which a thread was started.
func (s *Source) presentDefinition(ctx context.Context, thread string) (*checkpoint.Definition, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	out, err := s.engine.Open(ctx, thread)
	if err != nil {
		return nil, Coded(err)
	}
	kept, err := store.Definition(ctx, out.Fingerprint)
	if err != nil {
		return nil, stored(err)
	}
	// A definition is kept once, under the path that came first; the thread knows its own.
	ref := cmp.Or(out.Source, kept.Source)
	if kept.Graph != "" {
		ref += "::" + kept.Graph
	}
	loaded, err := s.files.Load(ref)
	if err != nil {
		return nil, Coded(err)
	}
	return &loaded.Definition, nil
}

// told adds to a refusal who decided since the version that was on screen, or where none was named who decided last,
// when the error does not say.
func (s *Source) told(ctx context.Context, r engine.ResumeRequest, err error) error {
	coded := Coded(err)
	var known *desk.Error
	if !errors.As(coded, &known) || s.store == nil {
		return coded
	}
	s.advise(context.WithoutCancel(ctx), r, known)
	if known.Details["by"] != nil {
		return coded
	}
	if !slices.Contains([]string{desk.CodeConflict, desk.CodeNotWaiting, desk.CodeRunning}, known.Code) {
		return coded
	}
	var last *checkpoint.Decision
	for d, err := range s.store.Decisions(context.WithoutCancel(ctx), r.Thread) {
		if err != nil {
			return coded
		}
		if r.IfVersion == nil || d.Version.Step >= r.IfVersion.Step {
			last = d
		}
	}
	if last == nil {
		return coded
	}
	if known.Details == nil {
		known.Details = map[string]any{}
	}
	at := last.DecidedAt.UTC()
	known.Details["by"], known.Details["action"], known.Details["at"] = last.Reviewer, last.Action, at
	known.Message += fmt.Sprintf("; the last decision was %s by %s at %s", last.Action, last.Reviewer, at.Format(time.RFC3339))
	return coded
}

// engineContext is ctx with the cause by which the engine knows that a person cancelled the run.
func engineContext(ctx context.Context) (context.Context, func()) {
	run, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if errors.Is(cause, desk.ErrCancelled) {
			cause = engine.ErrCancelledByPerson
		}
		cancel(cause)
	})
	return run, func() { stop(); cancel(nil) }
}

// Start runs a new thread until it rests.
func (s *Source) Start(ctx context.Context, r desk.StartRequest, reviewer string, started func(thread, workflow string)) (*desk.Result, error) {
	loaded, input, err := startable(s.files, r)
	if err != nil {
		return nil, err
	}
	workdir, err := workdirOf(r.Workdir)
	if err != nil {
		return nil, err
	}
	defer s.listen(r.Thread, hearing{started: started, progress: r.Progress, workflow: loaded.Name})()
	run, done := engineContext(ctx)
	defer done()
	out, err := s.engine.Start(run, engine.StartRequest{
		Thread: r.Thread, Definition: loaded.Definition, Graph: loaded.Graph, Input: input, Workdir: workdir, By: reviewer,
	})
	s.engine.Heard()
	if err != nil {
		return nil, taken(err, r.Thread)
	}
	result := resultOf(out, s.now())
	for _, key := range loaded.LeftOut(r.Input) {
		result.Warnings = append(result.Warnings, fmt.Sprintf("the input %q is left out: nothing in %s names it", key, loaded.Name))
	}
	return result, nil
}

// CheckStart reports what Start would refuse of a workflow, its input and a thread's id before it looks at the store, so that
// no store is made for it.
func CheckStart(files workflow.Library, r desk.StartRequest) error {
	if r.Thread != "" {
		if err := actions.CheckNewThreadID(r.Thread); err != nil {
			return err
		}
	}
	_, _, err := startable(files, r)
	return err
}

// startable reads the workflow that is to start, and checks its input.
func startable(files workflow.Library, r desk.StartRequest) (*workflow.Loaded, map[string]json.RawMessage, error) {
	loaded, err := load(files, r)
	if err != nil {
		return nil, nil, Coded(err)
	}
	input, err := loaded.CheckInput(r.Input)
	if err != nil {
		return nil, nil, inputFault(err)
	}
	return loaded, input, nil
}

// load reads the workflow that is to start.
func load(files workflow.Library, r desk.StartRequest) (*workflow.Loaded, error) {
	if !r.Named {
		return files.Load(r.File)
	}
	name, graph, one := strings.Cut(r.File, "::")
	if !workflow.IsName(name) {
		return nil, &desk.Error{Code: desk.CodeNotFound, Message: fmt.Sprintf("%q is not the name of a workflow", name),
			Remedy: "give the name of a file in the configured folders, without folder and ending"}
	}
	file, err := files.Find(name)
	if err != nil {
		return nil, err
	}
	if one {
		return files.Load(file + "::" + graph)
	}
	loaded, err := files.Load(file)
	if err == nil && loaded.Name != name {
		return nil, &desk.Error{Code: desk.CodeWorkflowInvalid, Message: fmt.Sprintf("the workflow %s calls itself %q", name, loaded.Name),
			Remedy: "rename the file or the workflow"}
	}
	return loaded, err
}

func inputFault(err error) error {
	coded := Coded(err)
	if desk.Code(coded) != desk.CodeInternal {
		return coded
	}
	return &desk.Error{Code: desk.CodeInvalidData, Message: "input: " + err.Error(), Err: err}
}

func workdirOf(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", Coded(err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", Coded(err)
	}
	if !info.IsDir() {
		return "", &desk.Error{Code: desk.CodeUsage, Message: abs + " is no folder"}
	}
	return abs, nil
}

// Workflows lists the workflow files of folders; one that cannot be started says why.
func (s *Source) Workflows(ctx context.Context, folders []string) ([]desk.Workflow, error) {
	var all []desk.Workflow
	for _, folder := range folders {
		for _, pattern := range []string{"*.yaml", "*.yml", "*.csv"} {
			files, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				return nil, &desk.Error{Code: desk.CodeUsage, Message: "folder " + folder + ": " + err.Error(), Err: err}
			}
			for _, file := range files {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				all = append(all, s.described(file)...)
			}
		}
	}
	return all, nil
}

// described is the workflow of a file, or each graph of an AgentMap file; none for a CSV file that holds data.
func (s *Source) described(file string) []desk.Workflow {
	if !strings.EqualFold(filepath.Ext(file), ".csv") {
		return []desk.Workflow{s.describe(file)}
	}
	if !workflow.HoldsGraphs(file) {
		return nil
	}
	graphs, err := s.files.Graphs(file)
	if err != nil || len(graphs) == 0 {
		return []desk.Workflow{s.describe(file)}
	}
	all := make([]desk.Workflow, len(graphs))
	stem := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	for i, graph := range graphs {
		all[i] = s.describe(file + "::" + graph)
		all[i].Name = stem + "::" + graph // by which the library finds it
	}
	return all
}

func (s *Source) describe(file string) desk.Workflow {
	x := desk.Workflow{Name: filepath.Base(file), File: file}
	loaded, err := s.files.Load(file)
	if err != nil {
		x.Err = err.Error()
		return x
	}
	x.Name, x.Description, x.Input = loaded.Name, loaded.Description, loaded.Input
	return x
}

// RequestCancel asks whoever runs a thread to stop: in this process at once, elsewhere at the next heartbeat.
func (s *Source) RequestCancel(ctx context.Context, thread, by string) error {
	return Coded(s.engine.Cancel(ctx, thread, by))
}

// Fork starts a thread from an earlier step of another, without running it on.
func (s *Source) Fork(ctx context.Context, thread string, step int64, as, by string) (*desk.Result, error) {
	out, err := s.engine.Fork(ctx, thread, step, as, by)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return nil, noStep(err, thread, step)
	}
	if err != nil {
		return nil, taken(err, as)
	}
	return resultOf(out, s.now()), nil
}

// Patch writes a reviewer's change of the state.
func (s *Source) Patch(ctx context.Context, c desk.Change, by string) (*desk.Result, error) {
	var at *checkpoint.Version
	if c.Version != "" {
		v, err := parseVersion(c.Version)
		if err != nil {
			return nil, err
		}
		at = &v
	}
	out, err := s.engine.Edit(ctx, engine.EditRequest{
		Thread: c.Thread, Frame: c.Frame, Updates: c.Updates, IfVersion: at, By: by, Steal: c.Steal,
	})
	if err != nil {
		return nil, s.told(ctx, engine.ResumeRequest{Thread: c.Thread, IfVersion: at}, err)
	}
	return resultOf(out, s.now()), nil
}
