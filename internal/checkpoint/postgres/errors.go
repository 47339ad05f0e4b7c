package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// SQLSTATE codes by which this package acts.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	readOnlyTransaction  = "25006"
	diskFull             = "53100"
	dataCorrupted        = "XX001"
	indexCorrupted       = "XX002"
	tooManyConnections   = "53300"
	undefinedTable       = "42P01"
	undefinedColumn      = "42703"
	undefinedFunction    = "42883"
	invalidAuthorization = "28000"
)

// fatalStates are the classes and codes with which the server ends a connection that another one may do better.
func fatalState(code string) bool {
	for _, prefix := range []string{"08", "57P01", "57P02", "57P03", "57P05", "25P03", tooManyConnections} {
		if strings.HasPrefix(code, prefix) {
			return true
		}
	}
	return false
}

// lost reports whether err is one of the connection, so that nothing is known of the statement but that another
// connection may carry it out.
func lost(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return fatalState(refused.Code)
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	return errors.Is(err, checkpoint.ErrUnreachable) || errors.As(err, &connecting) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}

// undone reports whether the server took back a transaction that may well succeed at the next try.
func undone(err error) bool {
	code := stateOf(err)
	return code == serializationFailure || code == deadlockDetected
}

func stateOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// classify gives an error of the server the sentinel a caller can act on. ctx is the caller's: where it lasts, a wait that has
// ended was one for the server.
func (s *Store) classify(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	with := func(sentinel error) error {
		if errors.Is(err, sentinel) {
			return err
		}
		return fmt.Errorf("%w: %w", sentinel, err)
	}
	code := stateOf(err)
	switch {
	case code == lockNotAvailable:
		return with(checkpoint.ErrLocked)
	case code == readOnlyTransaction:
		return with(checkpoint.ErrReadOnly)
	case code == diskFull:
		return with(checkpoint.ErrFull)
	case code == dataCorrupted || code == indexCorrupted:
		return with(checkpoint.ErrCorrupt)
	case code == undefinedTable || code == undefinedColumn || code == undefinedFunction:
		// The statements are this program's own: what they do not find was taken out of the schema.
		return with(checkpoint.ErrCorrupt)
	case errors.Is(err, checkpoint.ErrUnreachable):
		return err
	case lost(err) || errors.Is(err, context.DeadlineExceeded):
		return s.unreachable(err)
	default:
		return err
	}
}

// unreachable says of an error which store it is that did not answer, and what to write where only one side speaks TLS.
func (s *Store) unreachable(err error) error {
	if strings.Contains(err.Error(), "server refused TLS connection") { // pgconn has no error of its own for it
		err = fmt.Errorf("it does not speak TLS; write sslmode=disable in the URL, or have the server speak it (%w)", err)
	}
	return &checkpoint.UnreachableError{Store: s.url, Err: err}
}

// wantsTLS reports whether the server turns this connection away because it is not encrypted.
func wantsTLS(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == invalidAuthorization &&
		(strings.Contains(refused.Message, "no encryption") || strings.Contains(refused.Message, "SSL off"))
}
