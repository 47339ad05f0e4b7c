package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Rows yields the rows of a table of another backend, each with the values of the columns named, in their order. Numbers,
// texts, bytes and NULL may come as database/sql takes them.
type Rows func(ctx context.Context, table string, columns []string) iter.Seq2[[]any, error]

// What is written in one transaction of Fill.
const (
	fillRows  = 500
	fillBytes = 8 << 20
)

// Fill makes a new store at path, which must not exist, of what another backend keeps in tables and columns of the same
// names: a backup that this program opens like any store. After an error there is no file.
func Fill(ctx context.Context, path string, rows Rows) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, privateFile)
	if err != nil {
		return err
	}
	defer f.Close()
	if err = f.Chmod(privateFile); err == nil {
		err = fill(ctx, path, rows)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func fill(ctx context.Context, path string, rows Rows) error {
	s, err := Open(ctx, path, Options{Synchronous: "NORMAL"})
	if err != nil {
		return err
	}
	for _, table := range []string{"definitions", "threads", "checkpoints", "results", "decisions", "tombstones"} {
		if err = s.fillTable(ctx, table, rows); err != nil {
			err = fmt.Errorf("table %s: %w", table, err)
			break
		}
	}
	return errors.Join(err, s.Close()) // closing brings the log into the file
}

func (s *Store) fillTable(ctx context.Context, table string, rows Rows) error {
	columns, err := s.columns(ctx, table)
	if err != nil {
		return err
	}
	text := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")"
	var batch [][]any
	size := 0
	flush := func() error {
		err := s.write(ctx, func(t *tx) error {
			for _, row := range batch {
				t.w.bytes += sizeOf(row)
				if err := t.exec(text, row...); err != nil {
					return err
				}
			}
			return nil
		})
		batch, size = batch[:0], 0
		return err
	}
	for row, err := range rows(ctx, table, columns) {
		if err != nil {
			return err
		}
		batch = append(batch, row)
		size += int(sizeOf(row))
		if len(batch) < fillRows && size < fillBytes {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return flush()
}

// columns are the columns of a table but for those that are only this backend's.
func (s *Store) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := s.readers.query(ctx, "SELECT name FROM pragma_table_info(?) WHERE name NOT IN ('id', 'stepping')", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, rows.Err()
}

// sizeOf is about how many bytes a row takes.
func sizeOf(row []any) int64 {
	var n int64
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		default:
			n += 8
		}
	}
	return n
}
