package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

const (
	// walTarget is how much is written to the log before it is brought into the database.
	walTarget = 4 << 20
	// walKept is the length to which a longer log is cut once it begins anew.
	walKept = 4 * walTarget
	// walWait is how long writers wait for readers of the log so that it can begin anew.
	walWait = 20 * time.Millisecond
)

// walKeeper keeps the write-ahead log short beside writers, on a connection of its own. It works only when the log has
// grown, so nothing of it is awake at rest. A log that begins anew is overwritten, which costs a disk half of what
// growing it costs; so after most was copied beside the writers, they are held for the rest, some milliseconds.
type walKeeper struct {
	s  *Store
	db *sql.DB

	mu      sync.Mutex
	grown   int64
	busy    bool
	closed  bool
	workers sync.WaitGroup
}

func newWALKeeper(s *Store, c connection) *walKeeper {
	c.busy = walWait
	return &walKeeper{s: s, db: c.open(1)}
}

// written runs after each transaction.
func (k *walKeeper) written(bytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.grown += bytes
	if k.busy || k.closed || k.grown < walTarget {
		return
	}
	k.busy, k.grown = true, 0
	k.workers.Go(func() {
		k.checkpoint()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.busy = false
	})
}

// checkpoint copies most beside the writers, then holds them for what they added meanwhile: only a log that is copied to its
// end begins anew. It fails only for reasons that the next write or the next checkpoint meets too.
func (k *walKeeper) checkpoint() {
	if k.run("PASSIVE") == nil {
		_ = k.s.writer.exclude(func() error { return k.run("RESTART") })
	}
}

func (k *walKeeper) run(mode string) error {
	_, err := k.db.ExecContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")")
	return err
}

// close waits for the work at hand.
func (k *walKeeper) close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.workers.Wait()
	return k.db.Close()
}
