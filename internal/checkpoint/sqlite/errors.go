package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

func isSQLite(err error) bool {
	var e *driver.Error
	return errors.As(err, &e)
}

// classify gives an error of SQLite the sentinel a caller can act on.
func classify(err error) error {
	var e *driver.Error
	if !errors.As(err, &e) || errors.Is(err, context.Canceled) {
		return err
	}
	for code, sentinel := range map[int]error{
		lib.SQLITE_BUSY: checkpoint.ErrLocked, lib.SQLITE_LOCKED: checkpoint.ErrLocked, lib.SQLITE_PROTOCOL: checkpoint.ErrLocked,
		lib.SQLITE_READONLY: checkpoint.ErrReadOnly, lib.SQLITE_FULL: checkpoint.ErrFull,
		lib.SQLITE_CORRUPT: checkpoint.ErrCorrupt, lib.SQLITE_NOTADB: checkpoint.ErrForeign,
	} {
		if e.Code()&0xff == code && !errors.Is(err, sentinel) {
			return fmt.Errorf("%w: %w", sentinel, err)
		}
	}
	// The statements are this program's own, so a table or a column that they do not find was taken out of the file.
	if e.Code() == lib.SQLITE_ERROR && !errors.Is(err, checkpoint.ErrCorrupt) &&
		(strings.Contains(e.Error(), "no such table") || strings.Contains(e.Error(), "no such column")) {
		return fmt.Errorf("%w: %w", checkpoint.ErrCorrupt, err)
	}
	return err
}
