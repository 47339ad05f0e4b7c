package file

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// session is a thread under its lock.
type session struct {
	s      *Store
	ctx    context.Context
	thread string
	head   *head // nil when the thread is not there; replaced by save
	now    time.Time
}

// change says who is told of a new head.
type change int

const (
	silent change = iota // nobody: its row is the same
	quiet                // lists, but nobody is woken for it
	loud                 // it is a change of the thread
)

// write runs fn on a thread under its lock.
func (s *Store) write(ctx context.Context, thread string, fn func(*session) error) error {
	if err := s.beginWrite(ctx); err != nil {
		return err
	}
	release, err := s.take(ctx, s.stripe(thread), false)
	if err != nil {
		return classify(err)
	}
	defer release()
	// What is begun is finished, whatever becomes of the caller's wish for it.
	t := &session{s: s, ctx: context.WithoutCancel(ctx), thread: thread}
	if err := t.load(); err != nil {
		return classify(err)
	}
	return classify(fn(t))
}

// load reads the head and finishes what a process that died has left half done.
func (t *session) load() error {
	t.now = t.s.now()
	h, err := t.s.readHead(t.thread)
	if err != nil || h == nil {
		return err
	}
	t.head = h
	if !h.deleted.IsZero() {
		return t.bury()
	}
	if !h.redo.none() {
		return t.finish()
	}
	return nil
}

// present demands that the thread is there.
func (t *session) present() error {
	if t.head == nil {
		return checkpoint.ThreadNotFound(t.thread)
	}
	return nil
}

// held demands that token holds the lease, which a thread that is gone has lost.
func (t *session) held(token string) error {
	if t.head != nil {
		return t.head.lease.Held(t.thread, token, t.now)
	}
	deleted, err := t.deleted()
	if err != nil {
		return err
	}
	return checkpoint.AbsentConflict(t.thread, 0, deleted)
}

// deleted reports whether a thread that is not there has been.
func (t *session) deleted() (bool, error) { return exists(t.s.disk, t.s.tombstone(t.thread)) }

// next is a copy of the head to change and save.
func (t *session) next() *head {
	h := *t.head
	return &h
}

// create makes the folders of a new thread; what a crash left in them goes.
func (t *session) create() error {
	d := t.s.disk
	if err := d.Mkdir(t.s.folder(t.thread)); err != nil {
		return err
	}
	if err := d.Mkdir(t.s.steps(t.thread)); err != nil {
		return err
	}
	return t.clear(-1)
}

// clear removes the files of steps above one, which do not count and must not begin to.
func (t *session) clear(above int64) error {
	folder := t.s.steps(t.thread)
	list, err := t.s.disk.List(folder)
	if err != nil {
		return err
	}
	for _, e := range list {
		if n, ok := stepOf(e.name); ok && n <= above {
			continue
		}
		if err := removed(t.s.disk, join(folder, e.name)); err != nil {
			return err
		}
	}
	return nil
}

// writeStep writes the file of a step that is above the head, and makes it durable with its name.
func (t *session) writeStep(p *step) (state int, err error) {
	b, state, err := p.encode()
	if err != nil {
		return 0, err
	}
	switch {
	case t.head == nil:
		err = t.create()
	case p.Step > t.head.info.Step+1:
		err = t.clear(t.head.info.Step)
	}
	if err == nil {
		err = t.s.disk.Write(t.s.stepFile(t.thread, p.Step), b)
	}
	if err == nil {
		err = t.s.disk.Sync(t.s.steps(t.thread))
	}
	return state, err
}

// save makes h the head of the thread: the commit.
func (t *session) save(h *head, c change) error {
	s, folder := t.s, t.s.folder(t.thread)
	h.writes++
	h.info.Decisions, h.info.DecisionHash = h.chain.Count, h.chain.Last
	if c == loud {
		h.info.Updated = t.now
	}
	b, err := h.encode()
	if err != nil {
		return err
	}
	file := s.headFile(escape(t.thread))
	if t.head == nil { // the folder must have all that the head names before the head has its name
		if err := s.disk.Sync(folder); err != nil {
			return err
		}
	}
	if err := s.disk.Write(file+temporary, b); err != nil {
		return err
	}
	if err := t.publish(file, c); err != nil {
		return err
	}
	created := t.head == nil
	t.head = h
	if c == quiet { // a heartbeat that a power cut undoes was the last
		return nil
	}
	if err := s.disk.Sync(folder); err != nil {
		return err
	}
	if created {
		return s.disk.Sync(s.threads())
	}
	return nil
}

// publish renames the new head into place, with a line in the journal before it.
func (t *session) publish(file string, c change) error {
	s := t.s
	if c == silent {
		return s.disk.Rename(file+temporary, file)
	}
	release, err := s.take(t.ctx, &s.shared, false)
	if err != nil {
		return err
	}
	err = s.journal.append(line{Thread: text(t.thread), Quiet: c == quiet})
	if err == nil {
		err = s.disk.Rename(file+temporary, file)
	}
	release()
	if err == nil && c == loud {
		s.hub.Wake()
	}
	return err
}

// settle makes a head durable that is there already: whoever renamed it may have died before it was.
func (t *session) settle() error {
	for _, folder := range []string{t.s.steps(t.thread), t.s.folder(t.thread), t.s.threads()} {
		if err := t.s.disk.Sync(folder); err != nil {
			return err
		}
	}
	return nil
}

// finish does what the head says is still to be done to the files of the steps, and strikes it out.
func (t *session) finish() error {
	d := t.s.disk
	for _, n := range t.head.redo.Install {
		file := t.s.stepFile(t.thread, n)
		if err := d.Rename(file+staged, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, n := range t.head.redo.Remove {
		if err := removed(d, t.s.stepFile(t.thread, n)); err != nil {
			return err
		}
	}
	if err := d.Sync(t.s.steps(t.thread)); err != nil {
		return err
	}
	h := t.next()
	h.redo = redo{}
	return t.save(h, silent)
}
