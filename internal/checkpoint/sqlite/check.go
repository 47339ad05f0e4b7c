package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// checkAtMost bounds the faults told: of a file that is hurt in many places the first ones are enough.
const checkAtMost = 20

// Check looks for damage of the file itself: pages, indexes, constraints, what the schema is made of, and the counts that
// triggers keep. It gives one sentence for each fault.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var faults []string
	for _, look := range []func(context.Context) ([]string, error){s.checkFile, s.checkSchema, s.checkPhases} {
		found, err := look(ctx)
		if err != nil {
			if found, err = s.unreadable(err); err != nil {
				return nil, err
			}
		}
		faults = append(faults, found...)
	}
	return faults, nil
}

func (s *Store) checkFile(ctx context.Context) ([]string, error) {
	var faults []string
	err := eachRow(ctx, s.aux, fmt.Sprintf("PRAGMA integrity_check(%d)", checkAtMost), func(scan scanRow) error {
		var text string
		err := scan(&text)
		if err == nil && text != "ok" {
			faults = append(faults, fmt.Sprintf("%s: %s", s.path, text))
		}
		return err
	})
	return faults, err
}

// checkPhases compares the counts that triggers keep with the threads there are.
func (s *Store) checkPhases(ctx context.Context) ([]string, error) {
	var faults []string
	err := eachRow(ctx, s.aux, `SELECT phase, sum(counted), sum(there) FROM (SELECT phase, n AS counted, 0 AS there FROM phases
		UNION ALL SELECT phase, 0, count(*) FROM threads GROUP BY phase) GROUP BY phase HAVING sum(counted) <> sum(there)`, func(scan scanRow) error {
		var phase string
		var counted, there int64
		err := scan(&phase, &counted, &there)
		if err == nil {
			faults = append(faults, checkpoint.MiscountedPhase("table phases", phase, counted, there))
		}
		return err
	})
	return faults, err
}

// Orphans lists what is there of threads that have no row.
func (s *Store) Orphans(ctx context.Context) ([]checkpoint.Orphans, error) {
	var list []checkpoint.Orphans
	err := eachRow(ctx, s.aux, `SELECT thread, sum(n * (part = 1)), sum(n * (part = 2)), sum(n * (part = 3)) FROM (
		SELECT thread, 1 AS part, count(*) AS n FROM checkpoints GROUP BY thread
		UNION ALL SELECT thread, 2, count(*) FROM decisions GROUP BY thread
		UNION ALL SELECT thread, 3, count(*) FROM results GROUP BY thread)
		WHERE thread NOT IN (SELECT thread FROM threads) GROUP BY thread ORDER BY thread`, func(scan scanRow) error {
		var o checkpoint.Orphans
		err := scan(&o.Thread, &o.Steps, &o.Decisions, &o.Results)
		list = append(list, o)
		return err
	})
	return list, classify(err)
}

// scanRow reads the columns of a row.
type scanRow func(dest ...any) error

// eachRow calls fn for each row of a query.
func eachRow(ctx context.Context, db *sql.DB, text string, fn func(scanRow) error) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// unreadable makes a fault of an error that says that the file is hurt.
func (s *Store) unreadable(err error) ([]string, error) {
	if err = classify(err); errors.Is(err, checkpoint.ErrCorrupt) || errors.Is(err, checkpoint.ErrForeign) {
		return []string{fmt.Sprintf("%s: %v", s.path, err)}, nil
	}
	return nil, err
}
