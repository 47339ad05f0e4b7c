package sqlite

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// separator parts the columns of a packed row: a character that people do not write.
const separator = '\x1f'

// A row of threads is read as one text: handing a column over costs far more than SQLite's work for it, and a page has more
// than thirty columns in each of fifty rows. First its numbers, then its texts.
const (
	numberColumns = `seq, step, revision, lease_until, answers, due, waiting, created, updated, questions, answered, claim_until, cancel,
	decisions, origin_step`
	// threadColumns parts all by the separator. That a text of a row has one in it is seen by their number.
	threadColumns = `concat_ws(char(31), ` + numberColumns + `, thread, phase, workflow, node, title, assignee, team, priority, claim_by, error,
	lease_token, lease_holder, cancel_by, decision_hash, fingerprint, workdir, started_by, origin_thread)`
	// measuredColumns, for such rows, has the lengths of the texts in bytes behind the numbers, then the texts one behind the
	// other. It takes twice as long.
	measuredColumns = `concat_ws(char(31), ` + numberColumns + `, octet_length(thread), octet_length(phase), octet_length(workflow),
	octet_length(node), octet_length(title), octet_length(assignee), octet_length(team), octet_length(priority), octet_length(claim_by),
	octet_length(error), octet_length(lease_token), octet_length(lease_holder), octet_length(cancel_by), octet_length(decision_hash),
	octet_length(fingerprint), octet_length(workdir), octet_length(started_by), octet_length(origin_thread), '')
	|| thread || phase || workflow || node || title || assignee || team || priority || claim_by || error || lease_token || lease_holder ||
	cancel_by || decision_hash || fingerprint || workdir || started_by || origin_thread`
)

// The places of the numbers and of the texts.
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

// packedThread is a packed row read.
type packedThread struct {
	n [numbersOfThread]int64
	t [textsOfThread]string
}

var (
	errPacked    = errors.New("a row of threads does not read as it was written")
	errSeparator = errors.New("a text of a row of threads has the separator in it")
)

// read reads threadColumns; errSeparator says that only measuredColumns tell where texts end.
func (p *packedThread) read(packed string) error {
	packed, err := numbers(packed, p.n[:])
	if err != nil {
		return err
	}
	for i := range textsOfThread - 1 {
		end := strings.IndexByte(packed, separator)
		if end < 0 {
			return errPacked
		}
		p.t[i], packed = packed[:end], packed[end+1:]
	}
	if strings.IndexByte(packed, separator) >= 0 {
		return errSeparator
	}
	p.t[textsOfThread-1] = packed
	return nil
}

// readMeasured reads measuredColumns.
func (p *packedThread) readMeasured(packed string) error {
	var lengths [textsOfThread]int64
	packed, err := numbers(packed, p.n[:])
	if err == nil {
		packed, err = numbers(packed, lengths[:])
	}
	if err != nil {
		return err
	}
	for i, n := range lengths {
		if n < 0 || n > int64(len(packed)) {
			return errPacked
		}
		p.t[i], packed = packed[:n], packed[n:]
	}
	if packed != "" {
		return errPacked
	}
	return nil
}

// numbers reads as many numbers as there is room for, each with a separator behind it, and gives the rest.
func numbers(packed string, to []int64) (rest string, err error) {
	for i := range to {
		end := strings.IndexByte(packed, separator)
		if end < 0 {
			return "", errPacked
		}
		if to[i], err = strconv.ParseInt(packed[:end], 10, 64); err != nil {
			return "", errPacked
		}
		packed = packed[end+1:]
	}
	return packed, nil
}

// show makes a thread's row of p, as of now.
func (p *packedThread) show(info *checkpoint.ThreadInfo, now int64) {
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
}

// timeUnlessNever is nil for the time that stands where there is none.
func timeUnlessNever(micros int64) *time.Time {
	if micros == checkpoint.Never {
		return nil
	}
	t := checkpoint.FromMicros(micros)
	return &t
}
