package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"

	"github.com/jackc/pgx/v5"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Check looks whether all that a schema consists of is there and in use, and at the counts that triggers keep. Pages are the
// server's, which checks them itself where it is set up to (data checksums, amcheck). It gives one sentence for each fault.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	faults, err := s.checkObjects(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := readAll(ctx, s, func(rows scanner, text *string) error {
		var phase string
		var counted, there int64
		err := rows.Scan(&phase, &counted, &there)
		*text = checkpoint.MiscountedPhase("table phases", phase, counted, there)
		return err
	}, `SELECT phase, sum(counted)::bigint, sum(there)::bigint FROM (SELECT phase, n AS counted, 0 AS there FROM phases
		UNION ALL SELECT phase, 0, count(*) FROM threads GROUP BY phase) AS both_of GROUP BY phase HAVING sum(counted) <> sum(there)`)
	if errors.Is(err, checkpoint.ErrCorrupt) {
		return append(faults, fmt.Sprintf("the threads cannot be counted: %v", err)), nil
	}
	return append(faults, counts...), err
}

// thing is what a schema consists of.
type thing struct{ kind, name, of string }

func (o thing) String() string {
	if o.of != "" {
		return fmt.Sprintf("the %s %s of the table %s", o.kind, o.name, o.of)
	}
	return fmt.Sprintf("the %s %s", o.kind, o.name)
}

// checkObjects compares what is there with what the migrations make.
func (s *Store) checkObjects(ctx context.Context) ([]string, error) {
	want, err := things()
	if err != nil {
		return nil, err
	}
	have := make(map[thing]bool) // and whether it is in use
	err = s.read(ctx, func() { clear(have) }, func(rows scanner) error {
		var o thing
		var used bool
		err := rows.Scan(&o.kind, &o.name, &o.of, &used)
		have[o] = used
		return err
	}, `SELECT CASE relkind WHEN 'S' THEN 'sequence' WHEN 'i' THEN 'index' ELSE 'table' END, relname::text, '', coalesce(indisvalid, true)
			FROM pg_class LEFT JOIN pg_index ON indexrelid = pg_class.oid WHERE relnamespace = $1::text::regnamespace AND relkind IN ('r', 'p', 'i', 'S')
		UNION ALL SELECT 'column', attname::text, relname::text, true FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
			WHERE relnamespace = $1::text::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
		UNION ALL SELECT 'trigger', tgname::text, '', tgenabled IN ('O', 'A') FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
			WHERE relnamespace = $1::text::regnamespace AND NOT tgisinternal
		UNION ALL SELECT 'function', proname::text, '', true FROM pg_proc WHERE pronamespace = $1::text::regnamespace`, pgx.Identifier{s.schema}.Sanitize())
	if err != nil {
		return nil, err
	}
	var faults []string
	missing := make(map[string]bool) // tables
	for _, o := range want {
		switch used, there := have[o]; {
		case !there && o.of != "" && missing[o.of]:
		case !there:
			missing[o.name] = o.kind == "table"
			faults = append(faults, fmt.Sprintf("%s is missing in the schema %s", o, s.schema))
		case !used && o.kind == "trigger":
			faults = append(faults, fmt.Sprintf("%s is switched off in the schema %s", o, s.schema))
		case !used:
			faults = append(faults, fmt.Sprintf("%s is not valid in the schema %s", o, s.schema))
		}
	}
	return faults, nil
}

var (
	creation = regexp.MustCompile(`(?ms)^CREATE (?:UNIQUE )?(TABLE|INDEX|TRIGGER|FUNCTION|SEQUENCE) (\w+)(?: \(\n(.*?)^\))?`)
	column   = regexp.MustCompile(`(?m)^    ([a-z_]+) `)
	keyed    = regexp.MustCompile(`PRIMARY KEY`)
)

// things are what the migrations make, each table before its columns.
func things() ([]thing, error) {
	var list []thing
	kinds := map[string]string{"TABLE": "table", "INDEX": "index", "TRIGGER": "trigger", "FUNCTION": "function", "SEQUENCE": "sequence"}
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, made := range creation.FindAllStringSubmatch(string(text), -1) {
			list = append(list, thing{kind: kinds[made[1]], name: made[2]})
			if made[1] != "TABLE" {
				continue
			}
			for _, c := range column.FindAllStringSubmatch(made[3], -1) {
				list = append(list, thing{kind: "column", name: c[1], of: made[2]})
			}
			if keyed.MatchString(made[3]) {
				list = append(list, thing{kind: "index", name: made[2] + "_pkey"})
			}
		}
	}
	return list, nil
}

// Orphans lists what is there of threads that have no row.
func (s *Store) Orphans(ctx context.Context) ([]checkpoint.Orphans, error) {
	list, err := readAll(ctx, s, func(rows scanner, o *checkpoint.Orphans) error {
		return rows.Scan(&o.Thread, &o.Steps, &o.Decisions, &o.Results)
	}, `SELECT thread, coalesce(sum(n) FILTER (WHERE part = 1), 0)::bigint, coalesce(sum(n) FILTER (WHERE part = 2), 0)::bigint,
		coalesce(sum(n) FILTER (WHERE part = 3), 0)::bigint FROM (
		SELECT thread, 1 AS part, count(*) AS n FROM checkpoints GROUP BY thread
		UNION ALL SELECT thread, 2, count(*) FROM decisions GROUP BY thread
		UNION ALL SELECT thread, 3, count(*) FROM results GROUP BY thread) AS parts
		WHERE NOT EXISTS (SELECT 1 FROM threads WHERE threads.thread = parts.thread) GROUP BY thread ORDER BY thread`)
	return list, err
}
