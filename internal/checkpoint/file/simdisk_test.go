package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// simDisk is a file system in memory that tells what is durable from what is not, and that fails at a chosen moment. What is
// not durable survives a power cut or not, each name and each file for itself: no order is kept but that of syncs.
type simDisk struct {
	mu    sync.Mutex
	nodes map[string]*simNode
	locks map[string]int // holders; -1 for one that excludes

	events int
	at     int // the event that fails, 0 for none
	fail   failure
	failed string // what it was that failed
}

// failure is what happens at an event.
type failure int

const (
	crash  failure = iota // and nothing after it happens
	full                  // there is no space, until the test makes some
	broken                // a sync fails, once
)

var (
	errCrashed = errors.New("the machine is off")
	errBroken  = errors.New("input/output error")
)

// simNode is a file or a folder: as it is, and as it would be after a power cut.
type simNode struct {
	folder          bool
	data, kept      []byte
	names, keptName map[string]*simNode
	moved           [][2]string // names in it, since they were last synced: a rename survives whole or not at all
}

func newFolder() *simNode {
	return &simNode{folder: true, names: make(map[string]*simNode), keptName: make(map[string]*simNode)}
}

func newSimDisk() *simDisk {
	root := newFolder()
	return &simDisk{nodes: map[string]*simNode{"/": root}, locks: make(map[string]int)}
}

// event counts a thing that can fail; partly does what is done of it then.
func (d *simDisk) event(what string, sync bool, partly func()) error {
	if d.at > 0 && d.fail == crash && d.events >= d.at {
		return errCrashed
	}
	d.events++
	switch {
	case d.at == 0 || d.fail == crash && d.events != d.at:
		return nil
	case d.fail == crash:
		d.failed = what
		if partly != nil {
			partly()
		}
		return errCrashed
	case d.fail == full && d.events >= d.at && !sync:
		d.failed = what
		if partly != nil {
			partly()
		}
		return &fs.PathError{Op: "write", Path: what, Err: syscall.ENOSPC}
	case d.fail == broken && d.events == d.at && sync:
		d.failed = what
		return &fs.PathError{Op: "sync", Path: what, Err: errBroken}
	}
	return nil
}

func missing(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

// find gives what has a name, nil for nothing.
func (d *simDisk) find(name string) *simNode {
	at := d.nodes["/"]
	for _, part := range bytes.Split([]byte(filepath.ToSlash(name)), []byte("/")) {
		if len(part) == 0 {
			continue
		}
		if at == nil || !at.folder {
			return nil
		}
		at = at.names[string(part)]
	}
	return at
}

func (d *simDisk) parent(op, name string) (*simNode, string, error) {
	folder, base := filepath.Split(name)
	at := d.find(folder)
	if at == nil || !at.folder {
		return nil, "", missing(op, name)
	}
	return at, base, nil
}

func (d *simDisk) Read(name string) ([]byte, error) {
	b, _, err := d.ReadAt(name, 0, -1)
	return b, err
}

func (d *simDisk) ReadAt(name string, offset int64, most int) ([]byte, int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.find(name)
	if at == nil {
		return nil, 0, missing("open", name)
	}
	b := at.data[min(offset, int64(len(at.data))):]
	if most >= 0 {
		b = b[:min(most, len(b))]
	}
	return bytes.Clone(b), int64(len(at.data)), nil
}

// file gives the file of a name, created if need be.
func (d *simDisk) file(name string) (*simNode, error) {
	folder, base, err := d.parent("open", name)
	if err != nil {
		return nil, err
	}
	at := folder.names[base]
	if at == nil {
		if err := d.event("create "+name, false, nil); err != nil {
			return nil, err
		}
		at = &simNode{}
		folder.names[base] = at
	}
	return at, nil
}

func (d *simDisk) Write(name string, data []byte) error { return d.Append(name, 0, data, true) }

func (d *simDisk) Append(name string, offset int64, data []byte, sync bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, err := d.file(name)
	if err != nil {
		return err
	}
	whole := append(bytes.Clone(at.data[:min(offset, int64(len(at.data)))]), data...)
	half := func() { at.data = whole[:len(whole)-len(data)/2] }
	if err := d.event("write "+name, false, half); err != nil {
		return err
	}
	at.data = whole
	if !sync {
		return nil
	}
	if err := d.event("sync "+name, true, nil); err != nil {
		return err
	}
	at.kept = at.data
	return nil
}

func (d *simDisk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, base, err := d.parent("rename", from)
	if err != nil {
		return err
	}
	next, name, err := d.parent("rename", to)
	if err != nil {
		return err
	}
	at := old.names[base]
	if at == nil {
		return missing("rename", from)
	}
	if err := d.event("rename "+from, false, nil); err != nil {
		return err
	}
	delete(old.names, base)
	next.names[name] = at
	next.moved = append(next.moved, [2]string{base, name})
	return nil
}

func (d *simDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	folder, base, err := d.parent("remove", name)
	if err != nil {
		return err
	}
	at := folder.names[base]
	switch {
	case at == nil:
		return missing("remove", name)
	case len(at.names) > 0:
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	if err := d.event("remove "+name, true, nil); err != nil && d.fail == crash {
		return err
	}
	delete(folder.names, base)
	return nil
}

func (d *simDisk) Mkdir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	folder, base, err := d.parent("mkdir", name)
	if err != nil {
		return err
	}
	if folder.names[base] != nil {
		return nil
	}
	if err := d.event("mkdir "+name, false, nil); err != nil {
		return err
	}
	folder.names[base] = newFolder()
	return nil
}

func (d *simDisk) Sync(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.find(name)
	if at == nil {
		return missing("sync", name)
	}
	if err := d.event("sync "+name, true, nil); err != nil {
		return err
	}
	at.keptName, at.moved = maps.Clone(at.names), nil
	return nil
}

func (d *simDisk) List(name string) ([]entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.find(name)
	if at == nil {
		return nil, missing("open", name)
	}
	var list []entry
	for n, node := range at.names {
		list = append(list, entry{n, int64(len(node.data)), node.folder})
	}
	return list, nil
}

func (d *simDisk) Lock(name string, shared bool) (func(), error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	held := d.locks[name]
	if held < 0 || held > 0 && !shared {
		return nil, errBusy
	}
	by := -1
	if shared {
		by = 1
	}
	d.locks[name] += by
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.locks[name] -= by
	}, nil
}

// The ways in which what was not durable fares.
const (
	processDied = "process" // all of it is there: only the process ended
	powerLost   = "power"   // none of it is
	powerChance = "chance"  // some of it is
)

// after is the file system that is found after a crash.
func (d *simDisk) after(how string, random *rand.Rand) *simDisk {
	next := newSimDisk()
	next.nodes["/"] = d.nodes["/"].after(how, random, make(map[*simNode]*simNode))
	return next
}

func (n *simNode) after(how string, random *rand.Rand, done map[*simNode]*simNode) *simNode {
	if next := done[n]; next != nil {
		return next
	}
	survives := func() bool { return how == processDied || how == powerChance && random.IntN(2) == 0 }
	next := &simNode{folder: n.folder}
	done[n] = next
	if !n.folder {
		next.data = n.kept
		switch {
		case survives():
			next.data = n.data
		case how == powerChance && random.IntN(2) == 0 && !bytes.Equal(n.data, n.kept):
			same := 0
			for same < min(len(n.data), len(n.kept)) && n.data[same] == n.kept[same] {
				same++
			}
			next.data = n.data[:same+random.IntN(len(n.data)-same+1)]
		}
		next.kept = next.data
		return next
	}
	next.names, next.keptName = make(map[string]*simNode), make(map[string]*simNode)
	fate := make(map[string]bool)
	all := slices.Sorted(maps.Keys(n.names))
	for _, name := range append(all, slices.Sorted(maps.Keys(n.keptName))...) {
		fate[name] = survives()
	}
	for _, pair := range n.moved {
		fate[pair[0]] = fate[pair[1]]
	}
	for _, name := range slices.Sorted(maps.Keys(fate)) {
		node := n.keptName[name]
		if fate[name] {
			node = n.names[name]
		}
		if node != nil {
			next.names[name] = node.after(how, random, done)
			next.keptName[name] = next.names[name]
		}
	}
	return next
}

func (d *simDisk) String() string { return fmt.Sprintf("event %d: %s", d.at, d.failed) }
