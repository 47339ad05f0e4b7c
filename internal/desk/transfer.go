package desk

import (
	"context"
	"encoding/json"
	"io"
)

// Mover takes threads out of the source and into it.
type Mover interface {
	// Export writes a thread as JSON, a step at a time.
	Export(ctx context.Context, thread string, to io.Writer, mask Masker) (*Exported, error)
	// Import takes in what Export wrote, whole or not at all.
	Import(ctx context.Context, from io.ReadSeeker, revive bool) (*Imported, error)
	// Backup copies all threads into a new file while they are in use.
	Backup(ctx context.Context, file string, progress func(done, total int64)) (*BackedUp, error)
	// Restore takes in the threads of a backup. Unless add the source must be empty.
	Restore(ctx context.Context, file string, add bool, progress func(done, total int64)) (*Restored, error)
}

// Masker masks what is secret in an export; nil writes all.
type Masker interface {
	Text(s string) string
	Field(key string, raw json.RawMessage) json.RawMessage
	JSON(raw json.RawMessage) json.RawMessage
}

// Exported is what was written.
type Exported struct {
	Thread    string
	Steps     int64
	Decisions int64
	Warning   string // what stands in the way of taking it in again, such as a record of decisions that does not hold
}

// Imported is what was taken in.
type Imported struct {
	Thread    string
	Workflow  string
	Status    string
	Steps     int64
	Decisions int64
}

// BackedUp is a backup.
type BackedUp struct {
	File    string
	Bytes   int64
	Threads int64    // in the file
	LeftOut []string // one sentence for each thing that is hurt and is not in the file
	Hurt    []string // one sentence for each thing that is hurt in the file, as it is in the store
}

// Restored is what was taken in of a backup.
type Restored struct {
	Threads    int64
	Same       int64    // were there already, the same
	Tombstones int64    // of deleted threads
	Damaged    []string // one sentence for each thread of the backup that cannot be read
}

// Export writes a thread as JSON.
func (d *Desk) Export(ctx context.Context, thread string, to io.Writer, mask Masker) (*Exported, error) {
	mover, ok := d.source.(Mover)
	if !ok {
		return nil, unsupported("export a thread")
	}
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return nil, err
	}
	return mover.Export(ctx, id, to, mask)
}

// Import takes in what Export wrote; with revive also a thread that was deleted here.
func (d *Desk) Import(ctx context.Context, from io.ReadSeeker, revive bool) (*Imported, error) {
	mover, err := d.mover("import a thread")
	if err != nil {
		return nil, err
	}
	return mover.Import(ctx, from, revive)
}

// Backup copies all threads into a new file, whole, which is not for whoever may only read.
func (d *Desk) Backup(ctx context.Context, file string, progress func(done, total int64)) (*BackedUp, error) {
	mover, err := d.mover("make a backup, which holds whole what is masked here")
	if err != nil {
		return nil, err
	}
	return mover.Backup(ctx, file, progress)
}

// Restore takes in the threads of a backup, with add also beside others.
func (d *Desk) Restore(ctx context.Context, file string, add bool, progress func(done, total int64)) (*Restored, error) {
	mover, err := d.mover("restore a backup")
	if err != nil {
		return nil, err
	}
	return mover.Restore(ctx, file, add, progress)
}

// mover finds the part of the source that moves threads, for those who may do more than read.
func (d *Desk) mover(what string) (Mover, error) {
	if d.o.ReadOnly {
		return nil, readOnly(what)
	}
	mover, ok := d.source.(Mover)
	if !ok {
		return nil, unsupported(what)
	}
	return mover, nil
}
