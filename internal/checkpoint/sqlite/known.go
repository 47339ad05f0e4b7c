package sqlite

import (
	"errors"

	driver "modernc.org/sqlite"
)

// headsKnown is how many heads are kept at most, each less than a kilobyte.
const headsKnown = 4096

// known is what a writer need not read again, as long as nobody else wrote to the file: the last change's number, and
// the rows of the threads that run here, which nobody else may step.
type known struct {
	version uint32           // SQLite's number of the file's content, after the last transaction
	seq     int64            // 0 when it is not known
	heads   map[string]*head // by thread
	kept    []*head          // of the transaction under way, nil where taken again; they count once it is committed
}

// begun forgets all if somebody else wrote since the last transaction.
func (k *known) begun(version uint32) {
	k.kept = k.kept[:0]
	if version == k.version {
		return
	}
	k.seq = 0
	clear(k.heads)
}

// committed keeps what the transaction left.
func (k *known) committed(version uint32) {
	k.version = version
	if k.heads == nil || len(k.heads)+len(k.kept) > headsKnown {
		k.heads = make(map[string]*head)
	}
	for _, h := range k.kept {
		if h != nil {
			k.heads[h.thread] = h
		}
	}
	k.kept = k.kept[:0]
}

// take gives a head away, nil where it is not known: whoever takes it may change the row, and keeps it again or does not.
func (k *known) take(thread string) *head {
	for i, h := range k.kept {
		if h != nil && h.thread == thread {
			k.kept[i] = nil
			return h
		}
	}
	h := k.heads[thread]
	delete(k.heads, thread)
	return h
}

// keep says that h is the row of its thread as this write leaves it: the last that a write does, and only if it succeeds.
func (k *known) keep(h *head) { k.kept = append(k.kept, h) }

// contentVersion is SQLite's number of the file's content as its connection last saw it.
func (w *writer) contentVersion() (version uint32, err error) {
	err = w.conn.Raw(func(c any) error {
		control, ok := c.(driver.FileControl)
		if !ok {
			return errors.New("the SQLite driver does not tell the version of the content")
		}
		version, err = control.FileControlDataVersion("main")
		return err
	})
	return version, err
}

// lastSeq is the store-wide number of the last change; deletions count too. That of a thread which is stepping is the id of
// a step.
const lastSeq = `SELECT max((SELECT coalesce(max(seq), 0) FROM threads WHERE stepping = 0), (SELECT coalesce(max(id), 0) FROM checkpoints),
	(SELECT coalesce(max(seq), 0) FROM tombstones))`

// next is the number of the change being written. Numbers of what is undone stay unused.
func (t *tx) next() (int64, error) {
	k := &t.w.known
	if k.seq == 0 {
		if _, err := t.row(lastSeq, nil, &k.seq); err != nil {
			return 0, err
		}
	}
	k.seq++
	return k.seq, nil
}
