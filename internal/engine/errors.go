package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Conditions a caller can act on.
var (
	ErrNoStore         = errors.New("no store")
	ErrNotWaiting      = errors.New("the thread is not waiting")
	ErrAlreadyAnswered = errors.New("already answered")
	ErrClaimed         = errors.New("claimed by somebody else")
	ErrWorkflowChanged = errors.New("the workflow has changed")
	ErrUnknownQuestion = errors.New("no such open question")
	ErrClosed          = errors.New("the engine is closed")
	ErrInvalidEdit     = errors.New("the state cannot be changed so")
	ErrInvalidRequest  = errors.New("this cannot be asked for")
	ErrWhichQuestion   = errors.New("several questions are open")
)

// AnsweredError says who answered first.
type AnsweredError struct {
	Thread    string
	Interrupt string
	Address   string
	Action    string
	By        string
	At        time.Time
	Pending   bool // nothing that follows from the answer is stored yet: somebody is at it, or died over it
}

func (e *AnsweredError) Error() string {
	text := fmt.Sprintf("%s was already answered: %s by %s at %s", e.Address, e.Action, e.By, e.At.UTC().Format(time.RFC3339))
	if e.Pending {
		text += ", and the thread has not come to rest since"
	}
	return text
}

// Is makes an AnsweredError an ErrAlreadyAnswered.
func (e *AnsweredError) Is(target error) bool { return target == ErrAlreadyAnswered }

// overruledError says that answers of a call withdrew the question which a later one of the same call is for.
type overruledError struct {
	earlier []checkpoint.Decision
	late    checkpoint.Decision
}

func (e *overruledError) Error() string {
	var said []string
	for _, d := range e.earlier {
		said = append(said, strings.TrimSuffix(d.Action+" of "+d.Address, " of "))
	}
	return fmt.Sprintf("%s: what comes before it in this call (%s) withdraws the question %s; give one of the two",
		ErrInvalidRequest, strings.Join(said, ", "), e.late.Address)
}

// Is makes it an ErrInvalidRequest, and the ErrUnknownQuestion that it would be in a call of its own.
func (e *overruledError) Is(target error) bool {
	return target == ErrInvalidRequest || target == ErrUnknownQuestion
}

// ClaimedError says who claimed the thread.
type ClaimedError struct {
	Thread string
	By     string
	Until  time.Time
}

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("thread %s is claimed by %s until %s", e.Thread, e.By, e.Until.UTC().Format(time.RFC3339))
}

// Is makes a ClaimedError an ErrClaimed.
func (e *ClaimedError) Is(target error) bool { return target == ErrClaimed }
