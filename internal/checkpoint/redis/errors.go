package redis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/prune"
)

// replies gives the first word of an error reply of Redis the sentinel a caller can act on, and a remedy.
var replies = map[string]struct {
	sentinel error
	remedy   string
}{
	"READONLY":  {checkpoint.ErrReadOnly, "the server is a replica: name its master"},
	"OOM":       {checkpoint.ErrFull, "the server is at its maxmemory: prune threads or raise it"},
	"MISCONF":   {checkpoint.ErrReadOnly, "the server cannot write its files: see its log"},
	"WRONGTYPE": {checkpoint.ErrForeign, "another program uses keys with this prefix: give the store one of its own, as in ?prefix=desk:"},
	"NOAUTH":    {nil, "the server wants a password; the URL takes one between the user and the host"},
	"WRONGPASS": {nil, "user or password is wrong"},
	"NOPERM":    {nil, "the Redis user may not do this: allow it all commands and channels on the keys of the store"},
}

// classify gives an error of Redis the sentinel a caller can act on and says what to do. ctx is the caller's: where it
// lasts, a wait that has ended was one for the server.
func (s *Store) classify(ctx context.Context, err error) error {
	if errors.Is(err, redis.ErrClosed) {
		return checkpoint.ErrClosed
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, checkpoint.ErrUnreachable) {
		return err
	}
	if passing(err) {
		return &checkpoint.UnreachableError{Store: s.URL(), Err: err}
	}
	var reply redis.Error
	if !errors.As(err, &reply) {
		return err
	}
	word, _, _ := strings.Cut(reply.Error(), " ")
	known, ok := replies[word]
	switch {
	case !ok:
		return err
	case known.sentinel == nil:
		return fmt.Errorf("%s (%w)", known.remedy, err)
	case errors.Is(err, known.sentinel):
		return err
	default:
		return fmt.Errorf("%w: %s (%w)", known.sentinel, known.remedy, err)
	}
}

// passing reports whether an error is of the kind that a server shows while it restarts, loads or fails over, or a
// network for a moment.
func passing(err error) bool {
	var reply redis.Error
	var network net.Error
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return false
	case errors.As(err, &reply):
		return hasAnyPrefix(reply.Error(), "LOADING ", "BUSY ", "MASTERDOWN ", "ERR max number of clients")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, redis.ErrPoolTimeout), unreachable(err):
		return true
	default:
		return errors.As(err, &network)
	}
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// unreachable reports whether no connection came about, or none that both sides understand.
func unreachable(err error) bool {
	var op *net.OpError
	var speech *speechError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &speech)
}

// patiently does something until it neither succeeds nor fails for good, at most as long as the options allow. What it
// does has to come to the same when it is done twice.
func (s *Store) patiently(ctx context.Context, do func() error) error {
	const slowest = 500 * time.Millisecond
	pause, giveUp := 5*time.Millisecond, time.Now().Add(s.o.BusyTimeout)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := do()
		if !passing(err) || time.Now().Add(pause).After(giveUp) {
			return s.classify(ctx, err)
		}
		if err := prune.Pause(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, slowest)
	}
}
