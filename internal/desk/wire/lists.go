package wire

import (
	"encoding/json"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Show is `show --json`: a thread at its head or at an earlier step.
type Show struct {
	ThreadID    string                     `json:"thread_id"`
	Workflow    string                     `json:"workflow"`
	Fingerprint *string                    `json:"fingerprint"`
	Workdir     *string                    `json:"workdir"`
	Step        int64                      `json:"step"`
	Revision    int64                      `json:"revision"`
	Status      string                     `json:"status"`
	Interrupted bool                       `json:"interrupted"`
	Next        []string                   `json:"next"`
	Interrupts  []Interrupt                `json:"interrupts"`
	State       map[string]json.RawMessage `json:"state"`
	TS          *time.Time                 `json:"ts"`
	ClaimedBy   *string                    `json:"claimed_by"`
	Origin      *string                    `json:"origin"` // THREAD@STEP of a fork
	Error       *Error                     `json:"error"`
	Outputs     json.RawMessage            `json:"outputs"` // of a thread that is done
}

// FromState is the show of a thread at a step. Its error and its outputs are the head's.
func FromState(d *desk.Detail, s *desk.State) Show {
	x := Show{
		ThreadID: d.ID, Workflow: d.Workflow, Fingerprint: text(d.Fingerprint), Workdir: text(d.Workdir), Step: s.Step,
		Revision: s.Revision, Status: s.Status, Interrupted: len(s.Questions) > 0, Next: list(s.Next), Interrupts: Interrupts(s.Questions),
		State: s.State, TS: moment(s.TS), ClaimedBy: text(d.Claimed), Origin: text(d.Origin),
	}
	if x.State == nil {
		x.State = map[string]json.RawMessage{}
	}
	if s.Step == d.Step {
		// The step keeps a question until the next one is written; the thread knows that it has been answered.
		x.Status, x.Outputs, x.Interrupted, x.Interrupts = d.Status, d.Outputs, len(d.Questions) > 0, Interrupts(d.Questions)
		if d.Failure != "" {
			x.Error = failure(d.FailedNode, d.Failure)
		}
	}
	return x
}

// Step is one row of `history --json`.
type Step struct {
	Step      int64      `json:"step"`
	TS        *time.Time `json:"ts"`
	Source    string     `json:"source"`
	Nodes     []string   `json:"nodes"`
	Status    string     `json:"status"`
	Revision  int64      `json:"revision"`
	SizeBytes int64      `json:"size_bytes"`
	Decisions []Decision `json:"decisions"`
}

// Steps is a history, oldest first.
func Steps(steps []desk.Step) []Step {
	all := make([]Step, len(steps))
	for i, s := range steps {
		all[i] = Step{s.Step, moment(s.TS), s.Source, list(s.Nodes), s.Status, s.Revision, s.SizeBytes, Decisions(s.Decisions)}
	}
	return all
}

// Decision is one row of `audit --json` and of a history.
type Decision struct {
	ID        string          `json:"id"`
	ThreadID  string          `json:"thread_id"`
	N         int64           `json:"n"`
	Version   *string         `json:"version"`
	Address   *string         `json:"address"`
	Action    string          `json:"action"`
	Data      json.RawMessage `json:"data"`
	Comment   *string         `json:"comment"`
	Reviewer  *string         `json:"reviewer"`
	DecidedAt *time.Time      `json:"decided_at"`
	WaitedMS  int64           `json:"waited_ms"`
	Outcome   string          `json:"outcome"`
	Hash      *string         `json:"hash"`
}

// Decisions keeps the order of the rows.
func Decisions(rows []desk.DecisionRow) []Decision {
	all := make([]Decision, len(rows))
	for i, r := range rows {
		all[i] = Decision{
			r.ID, r.Thread, r.N, text(r.Version), text(r.Address), r.Action, r.Data, text(r.Comment), text(r.Reviewer),
			moment(r.DecidedAt), r.Waited.Milliseconds(), r.Outcome, text(r.Hash),
		}
	}
	return all
}

// Thread is one row of `threads --json`.
type Thread struct {
	ThreadID     string     `json:"thread_id"`
	Workflow     string     `json:"workflow"`
	Status       string     `json:"status"`
	Step         int64      `json:"step"`
	Interrupted  bool       `json:"interrupted"`
	Title        *string    `json:"title"`
	Node         *string    `json:"node"`
	Questions    int        `json:"questions"`
	WaitingSince *time.Time `json:"waiting_since"`
	Updated      *time.Time `json:"updated"`
	Due          *time.Time `json:"due"`
	ClaimedBy    *string    `json:"claimed_by"`
	Cursor       *string    `json:"cursor"`
}

// Threads is a page of threads.
func Threads(page []desk.Thread) []Thread {
	all := make([]Thread, len(page))
	for i, t := range page {
		all[i] = Thread{
			t.ID, t.Workflow, t.Status, t.Step, t.Questions > 0, text(t.Title), text(t.Node), t.Questions,
			moment(t.WaitingSince), moment(t.Updated), moment(t.Due), text(t.Claimed), text(t.Cursor),
		}
	}
	return all
}

// Question is one row of `questions --json`: an interrupt and where it is asked.
type Question struct {
	ThreadID string     `json:"thread_id"`
	Workflow string     `json:"workflow"`
	Version  *string    `json:"version"`
	Asked    *time.Time `json:"asked"`
	Overdue  bool       `json:"overdue"`
	Round    int        `json:"round"`
	Interrupt
}

// Questions keeps the order.
func Questions(questions []desk.Question) []Question {
	all := make([]Question, len(questions))
	for i, q := range questions {
		all[i] = Question{q.Thread, q.Workflow, text(q.Version), moment(q.Asked), q.Overdue, max(1, q.Round), interrupt(q)}
	}
	return all
}

// KeyDiff is one row of `diff --json`.
type KeyDiff struct {
	Key    string          `json:"key"`
	Kind   string          `json:"kind"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Diff keeps the order.
func Diff(rows []desk.KeyDiff) []KeyDiff {
	all := make([]KeyDiff, len(rows))
	for i, r := range rows {
		all[i] = KeyDiff(r)
	}
	return all
}

// Pruned is `prune --json`.
type Pruned struct {
	DryRun    bool           `json:"dry_run"`
	Steps     int64          `json:"steps"`
	Threads   int64          `json:"threads"`
	Deleted   int64          `json:"deleted"`
	SizeBytes int64          `json:"size_bytes"`
	Heads     int64          `json:"heads"`
	Oldest    *time.Time     `json:"oldest"`
	Newest    *time.Time     `json:"newest"`
	Per       []PrunedThread `json:"per_thread"`
	Skipped   []string       `json:"skipped"`
}

// PrunedThread is one thread's part.
type PrunedThread struct {
	ThreadID  string `json:"thread_id"`
	Workflow  string `json:"workflow"`
	Steps     int64  `json:"steps"`
	SizeBytes int64  `json:"size_bytes"`
	Whole     bool   `json:"whole"`
}

// FromPruned is the report of a prune.
func FromPruned(p *desk.Pruned) Pruned {
	x := Pruned{
		p.DryRun, p.Steps, p.Threads, p.Deleted, p.Bytes, p.Heads, moment(p.Oldest), moment(p.Newest), []PrunedThread{}, list(p.Skipped),
	}
	for _, t := range p.Per {
		x.Per = append(x.Per, PrunedThread{t.Thread, t.Workflow, t.Steps, t.Bytes, t.Whole})
	}
	return x
}

// Verified is `audit --verify --json`.
type Verified struct {
	Threads    int64    `json:"threads"`
	Rows       int64    `json:"rows"`
	Tombstones int64    `json:"tombstones"`
	Broken     []string `json:"broken"`
}

// FromVerified is the report of a check of the decision chains.
func FromVerified(v *desk.Verified) Verified {
	return Verified{v.Threads, v.Rows, v.Tombstones, list(v.Broken)}
}

func list(items []string) []string {
	if items == nil {
		return []string{}
	}
	return items
}
