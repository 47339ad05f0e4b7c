package sqlite

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// threadColumns is a row of threads as one text: its numbers, then the lengths in bytes of its texts, parted by spaces; a
// line end; the texts, one behind the other. Handing a column over costs far more than SQLite's work for it, and a page
// has more than thirty columns in each of fifty rows.
const threadColumns = `concat_ws(' ',
	seq, step, revision, lease_until, answers, due, waiting, created, updated, questions, answered, claim_until, cancel,
	decisions, origin_step, octet_length(thread), octet_length(phase), octet_length(workflow), octet_length(node),
	octet_length(title), octet_length(assignee), octet_length(team), octet_length(priority), octet_length(claim_by),
	octet_length(error), octet_length(lease_token), octet_length(lease_holder), octet_length(cancel_by),
	octet_length(decision_hash), octet_length(fingerprint), octet_length(workdir), octet_length(started_by),
	octet_length(origin_thread))
	|| char(10) ||
	thread || phase || workflow || node || title || assignee || team || priority || claim_by || error || lease_token ||
	lease_holder || cancel_by || decision_hash || fingerprint || workdir || started_by || origin_thread`

// The places of the numbers and of the texts in threadColumns.
const (
	nSeq = iota
	nStep
	nRevision
	nLeaseUntil
	nAnswers
	nDue
	nWaiting
	nCreated
	nUpdated
	nQuestions
	nAnswered
	nClaimUntil
	nCancel
	nDecisions
	nOriginStep
	numbersOfThread
)

const (
	tThread = iota
	tPhase
	tWorkflow
	tNode
	tTitle
	tAssignee
	tTeam
	tPriority
	tClaimBy
	tError
	tLeaseToken
	tLeaseHolder
	tCancelBy
	tDecisionHash
	tFingerprint
	tWorkdir
	tStartedBy
	tOriginThread
	textsOfThread
)

// packedThread is threadColumns read.
type packedThread struct {
	n [numbersOfThread]int64
	t [textsOfThread]string
}

var errPacked = errors.New("a row of threads does not read as it was written")

func (p *packedThread) read(packed string) error {
	head, texts, found := strings.Cut(packed, "\n")
	if !found {
		return errPacked
	}
	for i := range numbersOfThread + textsOfThread {
		field, rest, _ := strings.Cut(head, " ")
		head = rest
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return errPacked
		}
		if i < numbersOfThread {
			p.n[i] = n
			continue
		}
		if n < 0 || n > int64(len(texts)) {
			return errPacked
		}
		p.t[i-numbersOfThread], texts = texts[:n], texts[n:]
	}
	if head != "" || texts != "" {
		return errPacked
	}
	return nil
}

// unpack makes a thread's row of its text, as of now.
func unpack(info *checkpoint.ThreadInfo, packed string, now int64) error {
	var p packedThread
	if err := p.read(packed); err != nil {
		return err
	}
	n, t := &p.n, &p.t
	*info = checkpoint.ThreadInfo{
		Thread: t[tThread], Workflow: t[tWorkflow], Fingerprint: t[tFingerprint], Workdir: t[tWorkdir], StartedBy: t[tStartedBy],
		Step: n[nStep], Revision: n[nRevision], Created: checkpoint.FromMicros(n[nCreated]), Updated: checkpoint.FromMicros(n[nUpdated]),
		Decisions: n[nDecisions], DecisionHash: t[tDecisionHash], Seq: n[nSeq],
		Summary: checkpoint.Summary{
			Phase: checkpoint.Status(t[tPhase]), Title: t[tTitle], Node: t[tNode], Questions: int(n[nQuestions]), Answered: int(n[nAnswered]),
			WaitingSince: timeUnlessNever(n[nWaiting]), Due: timeUnlessNever(n[nDue]), Assignee: t[tAssignee], Group: t[tTeam],
			Priority: t[tPriority], Error: t[tError],
		},
	}
	live := n[nLeaseUntil] > now
	info.Status = checkpoint.EffectiveStatus(info.Phase, live, int(n[nAnswers]))
	if t[tLeaseToken] != "" || n[nAnswers] > 0 {
		info.Lease = &checkpoint.LeaseInfo{
			Holder: t[tLeaseHolder], Live: live, Answers: int(n[nAnswers]), CancelRequested: n[nCancel] != 0, CancelledBy: t[tCancelBy],
		}
		if n[nLeaseUntil] != 0 {
			info.Lease.Until = checkpoint.FromMicros(n[nLeaseUntil])
		}
	}
	if t[tClaimBy] != "" && n[nClaimUntil] > now {
		info.Claim = &checkpoint.Claim{Reviewer: t[tClaimBy], Until: checkpoint.FromMicros(n[nClaimUntil])}
	}
	if t[tOriginThread] != "" {
		info.Origin = &checkpoint.Origin{Thread: t[tOriginThread], Step: n[nOriginStep]}
	}
	return nil
}

// timeUnlessNever is nil for the time that stands where there is none.
func timeUnlessNever(micros int64) *time.Time {
	if micros == checkpoint.Never {
		return nil
	}
	t := checkpoint.FromMicros(micros)
	return &t
}
