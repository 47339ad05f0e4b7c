package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// head is what head.json says: which steps and decisions in the thread's folder count, and all that lists show.
type head struct {
	info    checkpoint.ThreadInfo // without what depends on the time, and without the number of the change
	writes  int64                 // of head.json; no two of a thread have the same
	claim   checkpoint.Claim
	lease   checkpoint.LeaseState
	chain   checkpoint.Chain
	rows    int64 // bytes of decisions.jsonl that count
	results int64 // generation of the pending results that count
	frames  codec.Frames
	write   int64 // of the head's step, see link
	redo    redo
	deleted time.Time // zero unless the thread is deleted and not all of it is gone
}

// redo is what is still to be done to the files of the steps, and counts as done.
type redo struct {
	Install []int64 `json:"install,omitempty"` // steps whose staged file takes the place of the one there is
	Remove  []int64 `json:"remove,omitempty"`
}

func (r *redo) none() bool { return len(r.Install) == 0 && len(r.Remove) == 0 }

// headPage is head.json.
type headPage struct {
	Thread      text               `json:"thread"`
	Writes      int64              `json:"writes"`
	Step        int64              `json:"step"`
	Revision    int64              `json:"revision"`
	Workflow    string             `json:"workflow"`
	Fingerprint string             `json:"fingerprint"`
	Workdir     text               `json:"workdir"`
	StartedBy   string             `json:"started_by"`
	Created     time.Time          `json:"created"`
	Updated     time.Time          `json:"updated"`
	Origin      *checkpoint.Origin `json:"origin,omitempty"`
	Summary     summary            `json:"summary"`
	Claim       *claim             `json:"claim,omitempty"`
	Lease       *lease             `json:"lease,omitempty"`
	Decisions   chain              `json:"decisions"`
	Results     int64              `json:"results"`
	Frames      frames             `json:"frames"`
	StepWrite   int64              `json:"step_write"`
	Redo        redo               `json:"redo,omitzero"`
	Deleted     *time.Time         `json:"deleted,omitempty"`
}

// The types below are those of checkpoint and codec with names for their fields in a file.
type (
	summary struct {
		Phase        checkpoint.Status `json:"phase"`
		Title        string            `json:"title,omitempty"`
		Node         string            `json:"node,omitempty"`
		Questions    int               `json:"questions,omitempty"`
		Answered     int               `json:"answered,omitempty"`
		WaitingSince *time.Time        `json:"waiting_since,omitempty"`
		Due          *time.Time        `json:"due,omitempty"`
		Assignee     string            `json:"assignee,omitempty"`
		Group        string            `json:"group,omitempty"`
		Priority     string            `json:"priority,omitempty"`
		Error        string            `json:"error,omitempty"`
	}
	claim struct {
		Reviewer string    `json:"reviewer"`
		Until    time.Time `json:"until"`
	}
	lease struct {
		Token       string            `json:"token"`
		Holder      string            `json:"holder"`
		Until       time.Time         `json:"until"`
		Answers     []json.RawMessage `json:"-"` // a field of the page of its own
		Own         int               `json:"own"`
		Cancel      bool              `json:"cancel,omitempty"`
		CancelledBy string            `json:"cancelled_by,omitempty"`
	}
	chain struct {
		Count int64  `json:"count"`
		Last  string `json:"last"`
		Bytes int64  `json:"bytes"`
	}
	frames struct {
		Base     int64 `json:"base"`
		BaseSize int64 `json:"base_size"`
		Steps    int64 `json:"steps"`
		Size     int64 `json:"size"`
	}
)

// encode gives the bytes of head.json.
func (h *head) encode() ([]byte, error) {
	i := &h.info
	p := headPage{Thread: text(i.Thread), Writes: h.writes, Step: i.Step, Revision: i.Revision, Workflow: i.Workflow,
		Fingerprint: i.Fingerprint, Workdir: text(i.Workdir), StartedBy: i.StartedBy, Created: i.Created, Updated: i.Updated,
		Origin: i.Origin, Summary: summary(i.Summary), Decisions: chain{h.chain.Count, h.chain.Last, h.rows},
		Results: h.results, Frames: frames(h.frames), StepWrite: h.write, Redo: h.redo}
	if h.claim.Reviewer != "" {
		p.Claim = (*claim)(&h.claim)
	}
	if h.lease.Token != "" {
		p.Lease = new(lease(h.lease))
	}
	if !h.deleted.IsZero() {
		p.Deleted = &h.deleted
	}
	page, err := verbatim.PageOf(&p)
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", i.Thread, err)
	}
	if len(h.lease.Answers) > 0 {
		answers := make([][]byte, len(h.lease.Answers))
		for n, raw := range h.lease.Answers {
			answers[n] = verbatim.Append(nil, raw, false)
		}
		page.List("answers", answers)
	}
	return page.Seal(), nil
}

func decodeHead(b []byte) (*head, error) {
	var p struct {
		headPage
		Answers []foreign `json:"answers"`
	}
	if err := verbatim.Open(b, verbatim.PageSeal, &p); err != nil {
		return nil, err
	}
	h := &head{writes: p.Writes, chain: checkpoint.Chain{Count: p.Decisions.Count, Last: p.Decisions.Last}, rows: p.Decisions.Bytes,
		results: p.Results, frames: codec.Frames(p.Frames), write: p.StepWrite, redo: p.Redo,
		info: checkpoint.ThreadInfo{Thread: string(p.Thread), Workflow: p.Workflow, Fingerprint: p.Fingerprint, Workdir: string(p.Workdir),
			StartedBy: p.StartedBy, Step: p.Step, Revision: p.Revision, Summary: checkpoint.Summary(p.Summary),
			Created: p.Created, Updated: p.Updated, Origin: p.Origin, Decisions: p.Decisions.Count, DecisionHash: p.Decisions.Last}}
	if p.Claim != nil {
		h.claim = checkpoint.Claim(*p.Claim)
	}
	if p.Lease != nil {
		h.lease = checkpoint.LeaseState(*p.Lease)
	}
	for _, raw := range p.Answers {
		h.lease.Answers = append(h.lease.Answers, json.RawMessage(raw))
	}
	if p.Deleted != nil {
		h.deleted = *p.Deleted
	}
	return h, nil
}

// readHead reads the head of a thread as it is on disk, nil for none.
func (s *Store) readHead(thread string) (*head, error) {
	h, err := s.readHeadIn(escape(thread))
	if err == nil && h != nil && h.info.Thread != thread {
		err = fmt.Errorf("it is the head of thread %s", h.info.Thread)
	}
	if err != nil {
		return nil, s.hurt(thread, 0, s.headFile(escape(thread)), err)
	}
	return h, nil
}

func (s *Store) readHeadIn(folder string) (*head, error) {
	b, err := s.disk.Read(s.headFile(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.headless(folder)
	}
	if err != nil {
		return nil, err
	}
	return decodeHead(b)
}

// headless is nil for a folder without a head that a crash can have left: of a thread that was about to begin, which has one
// step or a head that was being written, or of one that is deleted. Any other has lost its head.
func (s *Store) headless(folder string) error {
	begun, err := exists(s.disk, s.headFile(folder)+temporary)
	if err != nil || begun {
		return err
	}
	list, err := s.disk.List(join(s.threads(), folder, "steps"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) <= 1 {
		return nil
	}
	if err != nil {
		return err
	}
	deleted, err := exists(s.disk, join(s.tombstones(), folder+".json"))
	if err != nil || deleted {
		return err
	}
	return fmt.Errorf("the file is missing, though %d steps are there", len(list))
}

// present reads the head of a thread that must be there.
func (s *Store) present(thread string) (*head, error) {
	h, err := s.readHead(thread)
	if err == nil && (h == nil || !h.deleted.IsZero()) {
		err = checkpoint.ThreadNotFound(thread)
	}
	if err != nil {
		return nil, err
	}
	return h, nil
}

// hurt is the error of a file that cannot be read: what is wrong with the file system stays what it is.
func (s *Store) hurt(thread string, step int64, file string, err error) error {
	if _, outside := errors.AsType[*fs.PathError](err); outside && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("thread %s: %w", thread, err)
	}
	return &checkpoint.CorruptError{Thread: thread, Step: step, Where: s.relative(file), Err: err}
}

// holds reports whether a step of that number can be there.
func (h *head) holds(step int64) bool {
	return step <= h.info.Step && !slices.Contains(h.redo.Remove, step)
}

// view is the thread's row as of now, sharing nothing that changes.
func (h *head) view(now time.Time, seq int64) checkpoint.ThreadInfo {
	info := h.info
	info.Status = checkpoint.EffectiveStatus(info.Phase, h.lease.Live(now), len(h.lease.Answers))
	info.Lease = h.lease.Info(now)
	if h.claim.Reviewer != "" && now.Before(h.claim.Until) {
		info.Claim = new(h.claim)
	}
	info.Seq = seq
	return info
}

// own is a row that shares nothing with h.
func own(info checkpoint.ThreadInfo) checkpoint.ThreadInfo {
	info.Summary = info.Summary.Stored()
	if info.Origin != nil {
		info.Origin = new(*info.Origin)
	}
	return info
}
