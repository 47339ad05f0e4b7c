package ui

import (
	"context"
	"io"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Desk is the part of the desk's use cases that the terminal uses. *desk.Desk is one.
type Desk interface {
	Threads(ctx context.Context, q desk.Query) (desk.Page, error)
	Counts(ctx context.Context) (desk.Counts, error)
	Complete(ctx context.Context, filter string, cursor int) []desk.Candidate
	Open(ctx context.Context, thread string) (*desk.Detail, error)

	Respond(ctx context.Context, x desk.Decision, draft *desk.Draft) (*desk.Entry, error)
	RespondAll(ctx context.Context, decisions []desk.Decision, draft *desk.Draft) ([]*desk.Entry, []error)
	Outbox() []desk.Entry
	TakeBack(id string) (*desk.Entry, error)
	SendNow(id string) error
	KeepAsDrafts() error
	CarryOn(ctx context.Context, thread string) error
	CancelRun(ctx context.Context, thread string) error
	Busy() (unsent, running int)

	Claim(ctx context.Context, thread string, ttl time.Duration) error
	Release(ctx context.Context, thread string) error
	// BeginWriting claims the thread of a question while an answer to it is written; EndWriting says that none is.
	BeginWriting(ctx context.Context, q desk.Question) error
	EndWriting(ctx context.Context, q desk.Question) error

	Draft(q desk.Question) *desk.Draft
	SaveDraft(x desk.Draft) error
	Drafts() map[string]bool

	History(ctx context.Context, thread string) ([]desk.Step, error)
	StateAt(ctx context.Context, thread string, step int64) (*desk.State, error)
	Graph(ctx context.Context, thread string) (*desk.Graph, error)
	ExportMasked(ctx context.Context, thread string, to io.Writer) error
	Diff(ctx context.Context, thread string, a, b int64) ([]desk.KeyDiff, error)
	Fork(ctx context.Context, thread string, step int64) (string, error)
	Patch(ctx context.Context, c desk.Change) (*desk.Result, error)

	Prune(ctx context.Context, b desk.Bounds, dryRun bool, progress func(done, total int64)) (*desk.Pruned, error)
	Delete(ctx context.Context, threads ...string) error
	Decisions(ctx context.Context, thread string, limit int) ([]desk.DecisionRow, error)

	Activity(ctx context.Context, p desk.Period) (*desk.Activity, error)

	Workflows(ctx context.Context) ([]desk.Workflow, error)
	Start(ctx context.Context, s desk.StartRequest, background bool) (*desk.Result, error)

	// Rules lists the rules of the configuration, and whether they are applied; SetRules applies them or not.
	Rules() ([]desk.RuleState, bool)
	SetRules(on bool) error

	// Reveal shows secrets in what is read from now on, or masks them again.
	Reveal(on bool)

	Info(ctx context.Context) (desk.StoreInfo, error)
	Subscribe(ctx context.Context) <-chan []desk.Event
	Reviewer() string
}
