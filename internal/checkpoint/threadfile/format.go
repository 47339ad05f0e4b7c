// Package threadfile writes a whole thread as one JSON file and reads it again to the byte.
//
// # The format
//
// A file is one JSON object, and its lines are as they are: each of its parts, and each step, decision, answer, result and
// definition, is an object on a line of its own.
//
//	{"format":"hitl-tui thread","version":1,"redacted":false,
//	"thread":{...},
//	"steps":[
//	{...},
//	{...}
//	],
//	"decisions":[
//	...
//	],
//	"answers":[...],"results":[...],"definitions":[...] in the same way,
//	"end":{...}}
//
// A step holds its number, revision, time, commit, source, what it asked and did, and what its state has that the step
// before had not: "set" and "append" by channel, "delete" as a list. All JSON of workflows and people stands in it as it
// came, but what has line breaks or is no JSON is {"#text":"..."} or {"#base64":"..."}. Text that is no UTF-8 is
// {"base64":"..."}. Times are RFC 3339.
//
// Each object on a line ends in "sum", the CRC-32C of all such objects up to its own: a file that was cut, reordered or
// changed, or written anew by another program, is found so, and where. That is no seal against forgery; the decisions have
// one, their chain of hashes, which is verified too.
//
// Within a version fields are only added, which an older program passes over; a newer version is refused. A redacted file
// is for reading: what is masked cannot be taken in.
package threadfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

const (
	format  = "hitl-tui thread"
	version = 1
)

// The lists of a file, in their order.
const (
	steps       = "steps"
	decisions   = "decisions"
	answers     = "answers"
	results     = "results"
	definitions = "definitions"
)

func lists() []string { return []string{steps, decisions, answers, results, definitions} }

// ErrRedacted is that of a file whose secrets are masked.
var ErrRedacted = errors.New("its secrets are masked, so that it is for reading only")

// Fault is what is wrong with a file, and where.
type Fault struct {
	Line    int
	What    string // what stands there, such as step 7
	Problem string
	Err     error
}

func (f *Fault) Error() string {
	if f.What == "" {
		return fmt.Sprintf("line %d: %s", f.Line, f.Problem)
	}
	return fmt.Sprintf("line %d, %s: %s", f.Line, f.What, f.Problem)
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Is makes a Fault an ErrCorrupt.
func (f *Fault) Is(target error) bool { return target == checkpoint.ErrCorrupt }

// header is the first line.
type header struct {
	Format   string `json:"format"`
	Version  int    `json:"version"`
	Redacted bool   `json:"redacted"`
}

type (
	text    = verbatim.Text
	foreign = verbatim.JSON
)

type threadLine struct {
	Thread       text              `json:"thread_id"`
	Workflow     text              `json:"workflow"`
	Fingerprint  text              `json:"fingerprint,omitempty"`
	Workdir      text              `json:"workdir,omitempty"`
	StartedBy    text              `json:"started_by,omitempty"`
	Step         int64             `json:"step"`
	Revision     int64             `json:"revision"`
	Created      time.Time         `json:"created"`
	Updated      time.Time         `json:"updated"`
	Origin       *origin           `json:"origin,omitempty"`
	Phase        checkpoint.Status `json:"phase"`
	Title        text              `json:"title,omitempty"`
	Node         text              `json:"node,omitempty"`
	Questions    int               `json:"questions,omitempty"`
	Answered     int               `json:"answered,omitempty"`
	WaitingSince *time.Time        `json:"waiting_since,omitempty"`
	Due          *time.Time        `json:"due,omitempty"`
	Assignee     text              `json:"assignee,omitempty"`
	Group        text              `json:"group,omitempty"`
	Priority     text              `json:"priority,omitempty"`
	Error        text              `json:"error,omitempty"`
	Decisions    int64             `json:"decisions"`
	DecisionHash string            `json:"decision_hash,omitempty"`
}

type origin struct {
	Thread text  `json:"thread_id"`
	Step   int64 `json:"step"`
}

// stepLine is a step without what is JSON from outside.
type stepLine struct {
	Step        int64             `json:"step"`
	Revision    int64             `json:"revision"`
	TS          time.Time         `json:"ts"`
	Commit      text              `json:"commit,omitempty"`
	Source      checkpoint.Source `json:"source,omitempty"`
	Ended       checkpoint.Status `json:"ended,omitempty"`
	Workflow    text              `json:"workflow,omitempty"`
	Fingerprint text              `json:"fingerprint,omitempty"`
	Next        []text            `json:"next,omitempty"`
	Open        int               `json:"open,omitempty"`
	Decisions   []text            `json:"decisions,omitempty"`
	Error       *failure          `json:"error,omitempty"`
	Origin      *origin           `json:"origin,omitempty"`
	Runs        []nodeRun         `json:"runs,omitempty"`
}

type failure struct {
	Path     text      `json:"path"`
	Node     text      `json:"node"`
	Message  text      `json:"message"`
	Attempts int       `json:"attempts"`
	At       time.Time `json:"at"`
}

type nodeRun struct {
	Path     text      `json:"path"`
	Node     text      `json:"node"`
	Status   text      `json:"status"`
	Route    text      `json:"route,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	Started  time.Time `json:"started"`
	TookMS   int64     `json:"took_ms"`
	Error    text      `json:"error,omitempty"`
}

type interruptLine struct {
	ID         text       `json:"id"`
	Key        text       `json:"key"`
	Address    text       `json:"address"`
	Node       text       `json:"node"`
	Path       text       `json:"path"`
	ContentKey text       `json:"content_key,omitempty"`
	Asked      time.Time  `json:"asked"`
	Due        *time.Time `json:"due,omitempty"`
	Overdue    bool       `json:"overdue,omitempty"`
	Place      int        `json:"place,omitempty"`
	Round      int        `json:"round,omitempty"`
}

type previousLine struct {
	ID       text `json:"id"`
	Feedback text `json:"feedback,omitempty"`
	By       text `json:"by,omitempty"`
	Action   text `json:"action,omitempty"`
}

// stepFile is a step as it is read.
type stepFile struct {
	stepLine
	Interrupts []struct {
		interruptLine
		Payload  foreign `json:"payload"`
		Previous *struct {
			previousLine
			Value   foreign `json:"value"`
			Content foreign `json:"content"`
		} `json:"previous"`
	} `json:"interrupts"`
	Outputs foreign   `json:"outputs"`
	Ops     []opEntry `json:"state"`
}

// opEntry is a change of a channel.
type opEntry struct {
	Op      string  `json:"op"`
	Channel text    `json:"channel"`
	Value   foreign `json:"value"`
}

type decisionLine struct {
	N             int64     `json:"n"`
	ID            text      `json:"id"`
	ResponseID    text      `json:"response_id,omitempty"`
	Step          int64     `json:"step"`
	Revision      int64     `json:"revision"`
	Interrupt     text      `json:"interrupt,omitempty"`
	Key           text      `json:"key,omitempty"`
	Address       text      `json:"address,omitempty"`
	Path          text      `json:"path,omitempty"`
	Action        text      `json:"action,omitempty"`
	Comment       text      `json:"comment,omitempty"`
	Reviewer      text      `json:"reviewer,omitempty"`
	DecidedAt     time.Time `json:"decided_at"`
	WaitedSeconds float64   `json:"waited_seconds"`
	ShownHash     text      `json:"shown_hash,omitempty"`
	Outcome       text      `json:"outcome,omitempty"`
	Withdraws     text      `json:"withdraws,omitempty"`
	PrevHash      text      `json:"prev_hash,omitempty"`
	Hash          text      `json:"hash"`
}

type resultLine struct {
	Step int64 `json:"step"`
	Path text  `json:"path"`
}

type definitionLine struct {
	Fingerprint text       `json:"fingerprint"`
	Workflow    text       `json:"workflow"`
	Graph       text       `json:"graph,omitempty"`
	Source      text       `json:"source,omitempty"`
	Files       []fileText `json:"files"`
}

type fileText struct {
	Path text `json:"path"`
	Text text `json:"text"`
}

// Masker masks what is secret in what is written. redact.Rules is one.
type Masker interface {
	// Text masks within a text.
	Text(s string) string
	// Field masks the value of a key.
	Field(key string, raw json.RawMessage) json.RawMessage
	// JSON masks within JSON.
	JSON(raw json.RawMessage) json.RawMessage
}
