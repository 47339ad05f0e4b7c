package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
)

// object is what a schema is made of: a table, an index, a trigger or a view.
type object struct{ kind, name string }

// checkSchema compares what the schema is made of with what this program makes.
func (s *Store) checkSchema(ctx context.Context) ([]string, error) {
	want, err := freshObjects(ctx)
	if err != nil {
		return nil, fmt.Errorf("the schema as it should be: %w", err)
	}
	have, err := objects(ctx, s.aux)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, o := range slices.SortedFunc(maps.Keys(want), byName) {
		switch text, there := have[o]; {
		case !there:
			faults = append(faults, fmt.Sprintf("%s: the %s %s is missing", s.path, o.kind, o.name))
		case text != want[o]:
			faults = append(faults, fmt.Sprintf("%s: the %s %s is not as this program makes it", s.path, o.kind, o.name))
		}
	}
	for _, o := range slices.SortedFunc(maps.Keys(have), byName) {
		// What changes rows by itself is a fault; an index or a table of somebody's own is none.
		if _, ours := want[o]; !ours && o.kind == "trigger" {
			faults = append(faults, fmt.Sprintf("%s: there is a trigger %s, which this program did not make", s.path, o.name))
		}
	}
	return faults, nil
}

func byName(a, b object) int {
	if a.name < b.name {
		return -1
	}
	return 1
}

// freshObjects are those of a new store.
func freshObjects(ctx context.Context) (list map[object]string, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	if err := migrateUp(ctx, db); err != nil {
		return nil, err
	}
	return objects(ctx, db)
}

// objects are what a schema is made of, with the texts that made them.
func objects(ctx context.Context, db *sql.DB) (map[object]string, error) {
	list := make(map[object]string)
	err := eachRow(ctx, db, "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!'", func(scan scanRow) error {
		var o object
		var text string
		err := scan(&o.kind, &o.name, &text)
		list[o] = text
		return err
	})
	return list, err
}
