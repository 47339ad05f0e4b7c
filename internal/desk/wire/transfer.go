package wire

import "github.com/hitl-tui/hitl-tui/internal/desk"

// Imported is `import --json`.
type Imported struct {
	Thread    string `json:"thread_id"`
	Workflow  string `json:"workflow"`
	Status    string `json:"status"`
	Steps     int64  `json:"steps"`
	Decisions int64  `json:"decisions"`
}

// FromImported is the report of an import.
func FromImported(i *desk.Imported) Imported { return Imported(*i) }

// BackedUp is `backup --json`.
type BackedUp struct {
	File    string   `json:"file"`
	Bytes   int64    `json:"size_bytes"`
	Threads int64    `json:"threads"`
	LeftOut []string `json:"left_out"`
	Hurt    []string `json:"hurt"`
}

// FromBackedUp is the report of a backup.
func FromBackedUp(b *desk.BackedUp) BackedUp {
	return BackedUp{b.File, b.Bytes, b.Threads, list(b.LeftOut), list(b.Hurt)}
}

// Restored is `restore --json`.
type Restored struct {
	Threads    int64    `json:"threads"`
	Same       int64    `json:"same"`
	Tombstones int64    `json:"tombstones"`
	Damaged    []string `json:"damaged"`
}

// FromRestored is the report of a restore.
func FromRestored(r *desk.Restored) Restored {
	return Restored{r.Threads, r.Same, r.Tombstones, list(r.Damaged)}
}
