package onewrite

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
	"pgregory.net/rapid"
)

// disk is the file of a VFS below, in memory: what it holds, and how its coming writes fail.
type disk struct {
	content []byte
	fail    int // how many writes fail from now on
	part    int // after how many bytes each of them fails
	writes  int
	syncs   int
	synced  []byte // what it held at the last sync
}

func (d *disk) write(data []byte, offset int64) int32 {
	d.writes++
	failed := d.fail > 0
	if failed {
		d.fail--
		data = data[:min(len(data), d.part)]
	}
	d.content = overwrite(d.content, data, offset)
	if failed {
		return lib.SQLITE_FULL
	}
	return lib.SQLITE_OK
}

// overwrite is a file after a write to it.
func overwrite(content, data []byte, offset int64) []byte {
	if more := int(offset) + len(data) - len(content); more > 0 && len(data) > 0 {
		content = append(content, make([]byte, more)...)
	}
	copy(content[min(int(offset), len(content)):], data)
	return content
}

// disks are the files by their addresses: functions that SQLite could call have nothing else to know them by.
var disks = map[uintptr]*disk{}

func diskWrite(_ *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	return disks[file].write(bytes(data, n), offset)
}

func diskRead(_ *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	content := disks[file].content
	to := bytes(data, n)
	clear(to)
	if copy(to, content[min(int(offset), len(content)):]) < len(to) {
		return lib.SQLITE_IOERR_SHORT_READ
	}
	return lib.SQLITE_OK
}

func diskSync(_ *libc.TLS, file uintptr, _ int32) int32 {
	d := disks[file]
	d.syncs++
	d.synced = slices.Clone(d.content)
	return lib.SQLITE_OK
}

func diskTruncate(_ *libc.TLS, file uintptr, size int64) int32 {
	d := disks[file]
	d.content = d.content[:min(int(size), len(d.content))]
	return lib.SQLITE_OK
}

func diskSize(_ *libc.TLS, file, to uintptr) int32 {
	*at[int64](to) = int64(len(disks[file].content))
	return lib.SQLITE_OK
}

func diskClose(*libc.TLS, uintptr) int32 { return lib.SQLITE_OK }

func diskTraits(*libc.TLS, uintptr) int32 { return lib.SQLITE_IOCAP_POWERSAFE_OVERWRITE }

func diskLock(*libc.TLS, uintptr, int32, int32, int32) int32 { return lib.SQLITE_OK }

// bench is a log upon a disk, called as SQLite calls it.
type bench struct {
	*disk
	tls                         *libc.TLS
	log, database, data, result uintptr
}

func newBench(t interface{ Cleanup(func()) }) *bench {
	b := &bench{disk: new(disk), tls: libc.NewTLS()}
	memory := func(size int32) uintptr {
		p := lib.Xsqlite3_malloc(b.tls, size)
		t.Cleanup(func() { lib.Xsqlite3_free(b.tls, p) })
		return p
	}
	t.Cleanup(b.tls.Close)
	below := memory(sizeOf[lib.Tsqlite3_io_methods]())
	*at[lib.Tsqlite3_io_methods](below) = lib.Tsqlite3_io_methods{FiVersion: 3, FxWrite: address(diskWrite), FxRead: address(diskRead),
		FxSync: address(diskSync), FxTruncate: address(diskTruncate), FxFileSize: address(diskSize), FxClose: address(diskClose),
		FxDeviceCharacteristics: address(diskTraits), FxShmLock: address(diskLock)}
	file := func(size int32) (file, place uintptr) {
		file = memory(8 + size)
		at[lib.Tsqlite3_file](file).FpMethods = below
		return file, file + 8
	}
	var place, logPlace uintptr
	b.database, place = file(sizeOf[database]())
	b.log, logPlace = file(sizeOf[log]())
	openDatabase(b.database, place)
	openLog(b.tls, b.log, logPlace, b.database, place)
	b.data, b.result = memory(2*most), memory(8)
	disks[b.log] = b.disk
	t.Cleanup(func() {
		delete(disks, b.log)
		function[closeFunc](b.methods(b.log).FxClose)(b.tls, b.log)
	})
	return b
}

func (b *bench) methods(file uintptr) *lib.Tsqlite3_io_methods {
	return at[lib.Tsqlite3_io_methods](at[lib.Tsqlite3_file](file).FpMethods)
}

func (b *bench) write(data []byte, offset int64) int32 {
	copy(bytes(b.data, int32(len(data))), data)
	return function[transferFunc](b.methods(b.log).FxWrite)(b.tls, b.log, b.data, int32(len(data)), offset)
}

func (b *bench) read(n int, offset int64) ([]byte, int32) {
	rc := function[transferFunc](b.methods(b.log).FxRead)(b.tls, b.log, b.data, int32(n), offset)
	return slices.Clone(bytes(b.data, int32(n))), rc
}

func (b *bench) sync() int32 { return function[syncFunc](b.methods(b.log).FxSync)(b.tls, b.log, 2) }

func (b *bench) truncate(size int64) int32 {
	return function[truncateFunc](b.methods(b.log).FxTruncate)(b.tls, b.log, size)
}

func (b *bench) size() (int64, int32) {
	rc := function[sizeFunc](b.methods(b.log).FxFileSize)(b.tls, b.log, b.result)
	return *at[int64](b.result), rc
}

func (b *bench) unlock(first, n, flags int32) {
	function[shmLockFunc](b.methods(b.database).FxShmLock)(b.tls, b.database, first, n, flags)
}

const released = lib.SQLITE_SHM_UNLOCK | lib.SQLITE_SHM_EXCLUSIVE

func header(page, commit uint32) []byte {
	h := make([]byte, frameHeader)
	binary.BigEndian.PutUint32(h, page)
	binary.BigEndian.PutUint32(h[4:], commit)
	return h
}

func page(fill byte, size int) []byte { return slices.Repeat([]byte{fill}, size) }

// TestCommitIsOneWriteBelow appends transactions of frames: each is one write, when its last page is there.
func TestCommitIsOneWriteBelow(t *testing.T) {
	b := newBench(t)
	offset := int64(0)
	put := func(data []byte) {
		t.Helper()
		if rc := b.write(data, offset); rc != lib.SQLITE_OK {
			t.Fatalf("SQLite's error %d", rc)
		}
		offset += int64(len(data))
	}
	put(page('w', 32))
	for i := range uint32(3) {
		put(header(i, 0))
		put(page(1, 512))
		if b.disk.writes != int(i) {
			t.Fatalf("%d writes before the commit of transaction %d", b.disk.writes, i)
		}
		put(header(i, 5))
		put(page(2, 512))
		if b.disk.writes != int(i)+1 || int64(len(b.content)) != offset {
			t.Fatalf("%d writes, %d of %d bytes after the commit of transaction %d", b.disk.writes, len(b.content), offset, i)
		}
	}
	b.unlock(lib.WAL_WRITE_LOCK, 1, released)
	if b.sync() != lib.SQLITE_OK || b.syncs != 1 || b.disk.writes != 3 {
		t.Errorf("%d syncs and %d writes", b.syncs, b.disk.writes)
	}
}

// TestForgottenWithTheLock: only giving up the lock for writing forgets, and that wholly.
func TestForgottenWithTheLock(t *testing.T) {
	for name, c := range map[string]struct {
		first, n, flags int32
		forgotten       bool
	}{
		"written":        {lib.WAL_WRITE_LOCK, 1, released, true},
		"with others":    {lib.WAL_WRITE_LOCK, 3, released, true},
		"taken":          {lib.WAL_WRITE_LOCK, 1, lib.SQLITE_SHM_LOCK | lib.SQLITE_SHM_EXCLUSIVE, false},
		"checkpoint":     {lib.WAL_WRITE_LOCK + 1, 1, released, false},
		"read":           {lib.WAL_WRITE_LOCK + 3, 1, lib.SQLITE_SHM_UNLOCK | lib.SQLITE_SHM_SHARED, false},
		"shared, though": {lib.WAL_WRITE_LOCK, 1, lib.SQLITE_SHM_UNLOCK | lib.SQLITE_SHM_SHARED, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write(page('w', 32), 0)
			b.write(header(1, 0), 32)
			b.write(page(1, 512), 56)
			b.unlock(c.first, c.n, c.flags)
			b.sync()
			if got := len(b.content) == 0; got != c.forgotten {
				t.Errorf("%d bytes were written", len(b.content))
			}
		})
	}
}

// TestWrittenByOthersBetween: after a transaction that was undone its place belongs to whoever writes next.
func TestWrittenByOthersBetween(t *testing.T) {
	b := newBench(t)
	b.write(page(1, 512), 0)
	b.unlock(lib.WAL_WRITE_LOCK, 1, released)
	b.content = page('o', 1024)
	b.write(page(2, 512), 1024)
	b.sync()
	if want := slices.Concat(page('o', 1024), page(2, 512)); !slices.Equal(b.content, want) {
		t.Error("what was undone went over what another wrote")
	}
}

// TestRefusedIsNotWrittenLater: a commit that was told to have failed must not be found in the log.
func TestRefusedIsNotWrittenLater(t *testing.T) {
	b := newBench(t)
	b.write(header(1, 1), 0)
	b.disk.fail = 1
	if rc := b.write(page(1, 512), frameHeader); rc != lib.SQLITE_FULL {
		t.Fatalf("SQLite's error %d, want that of the disk", rc)
	}
	if b.sync(); !slices.Equal(b.content, header(1, 1)) {
		t.Errorf("%d bytes were written", len(b.content))
	}
}

// TestNotGathered: with a disk that is not safe against a power cut beside what is overwritten, and under another VFS.
func TestNotGathered(t *testing.T) {
	for name, spoil := range map[string]func(b *bench, d *lib.Tsqlite3_io_methods){
		"unsafe disk": func(b *bench, d *lib.Tsqlite3_io_methods) { d.FxDeviceCharacteristics = address(diskClose) },
		"other VFS":   func(b *bench, d *lib.Tsqlite3_io_methods) { at[lib.Tsqlite3_file](b.database).FpMethods = b.data },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			below := ours[log](b.log).below
			d := ours[database](b.database)
			spoil(b, d.base())
			file := lib.Xsqlite3_malloc(b.tls, 8+sizeOf[log]())
			defer lib.Xsqlite3_free(b.tls, file)
			at[lib.Tsqlite3_file](file).FpMethods = below
			openLog(b.tls, file, file+8, b.database, b.database+8)
			if at[lib.Tsqlite3_file](file).FpMethods != below {
				t.Error("it gathers")
			}
		})
	}
}

// model is what SQLite believes the log to hold: what it was told is written. Of a write that failed it believes nothing.
type model struct {
	*bench
	content []byte
	unsure  []bool
	end     int64 // of the last frame
	top     int64 // of all that this transaction wrote
}

func (m *model) believe(data []byte, offset int64, rc int32) {
	if rc == lib.SQLITE_OK {
		m.top = max(m.top, offset+int64(len(data)))
	}
	m.content = overwrite(m.content, data, offset)
	m.unsure = append(m.unsure, make([]bool, len(m.content)-len(m.unsure))...)
	for i := range data {
		m.unsure[int(offset)+i] = rc != lib.SQLITE_OK
	}
}

func (m *model) same(got []byte, offset int) error {
	for i := range got {
		if !m.unsure[offset+i] && got[i] != m.content[offset+i] {
			return fmt.Errorf("byte %d is %d, and should be %d", offset+i, got[i], m.content[offset+i])
		}
	}
	return nil
}

// whole checks that everything that was told to be written is in the file.
func (m *model) whole(t *rapid.T, file []byte) {
	for i := range m.content {
		if !m.unsure[i] && (i >= len(file) || file[i] != m.content[i]) {
			t.Fatalf("byte %d of %d is not in the file of %d", i, len(m.content), len(file))
		}
	}
}

// frame writes a header and, if that is taken, a page.
func (m *model) frame(t *rapid.T, commit uint32) {
	if m.end == 0 && m.write32(t) != lib.SQLITE_OK {
		return
	}
	size := rapid.SampledFrom([]int{512, 4096, 65536}).Draw(t, "size")
	h, p := header(1, commit), page(rapid.Byte().Draw(t, "fill"), size)
	rc := m.bench.write(h, m.end)
	m.believe(h, m.end, rc)
	if rc != lib.SQLITE_OK {
		return
	}
	rc = m.bench.write(p, m.end+frameHeader)
	m.believe(p, m.end+frameHeader, rc)
	if rc == lib.SQLITE_OK {
		m.end += int64(frameHeader + size)
		if commit != 0 {
			m.whole(t, m.disk.content)
		}
	}
}

func (m *model) write32(t *rapid.T) int32 {
	start := page('w', 32)
	rc := m.bench.write(start, 0)
	m.believe(start, 0, rc)
	if rc == lib.SQLITE_OK {
		m.end = 32
	}
	return rc
}

// TestLogAgainstModel calls a log at random, with a disk that fails at random: what it was told is there when it must be.
func TestLogAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{bench: newBench(t)}
		t.Repeat(map[string]func(*rapid.T){
			"frame":  func(t *rapid.T) { m.frame(t, 0) },
			"commit": func(t *rapid.T) { m.frame(t, 7) },
			"fail": func(t *rapid.T) {
				m.disk.fail, m.disk.part = rapid.IntRange(1, 3).Draw(t, "times"), rapid.IntRange(0, 5000).Draw(t, "part")
			},
			"again": func(t *rapid.T) { // a page or a header that is there already
				if m.end < 600 {
					t.Skip()
				}
				data := rapid.SampledFrom([][]byte{header(9, 9), header(9, 0), page(9, 512)}).Draw(t, "data")
				offset := rapid.Int64Range(0, m.end-int64(len(data))).Draw(t, "offset")
				over := offset < m.top
				rc := m.bench.write(data, offset)
				m.believe(data, offset, rc)
				if over && rc == lib.SQLITE_OK {
					m.whole(t, m.disk.content)
				}
			},
			"undo": func(t *rapid.T) { // a savepoint: what follows is written over it
				m.end = rapid.Int64Range(0, m.end).Draw(t, "to")
			},
			"read": func(t *rapid.T) {
				if len(m.content) == 0 {
					t.Skip()
				}
				offset := rapid.IntRange(0, len(m.content)-1).Draw(t, "offset")
				n := rapid.IntRange(1, min(len(m.content)-offset, most)).Draw(t, "n")
				got, rc := m.bench.read(n, int64(offset))
				if rc != lib.SQLITE_OK {
					return
				}
				if err := m.same(got, offset); err != nil {
					t.Fatal(err)
				}
			},
			"sync": func(t *rapid.T) {
				if m.bench.sync() == lib.SQLITE_OK {
					m.whole(t, m.disk.synced)
				}
			},
			"size": func(t *rapid.T) {
				if size, rc := m.bench.size(); rc == lib.SQLITE_OK {
					m.whole(t, m.disk.content)
					if size != int64(len(m.disk.content)) {
						t.Fatalf("size %d, want %d", size, len(m.disk.content))
					}
				}
			},
			"cut": func(t *rapid.T) {
				size := rapid.Int64Range(0, int64(len(m.content))).Draw(t, "size")
				if m.bench.truncate(size) == lib.SQLITE_OK {
					m.content, m.unsure, m.end = m.content[:size], m.unsure[:size], min(m.end, size)
					m.whole(t, m.disk.content)
				}
			},
			"end": func(t *rapid.T) { // what is not committed by now is given up, and another writes there
				m.bench.unlock(lib.WAL_WRITE_LOCK, 1, released)
				m.disk.content = overwrite(m.disk.content, page('o', 100), int64(len(m.disk.content)))
				m.content = slices.Clone(m.disk.content)
				m.unsure, m.top = make([]bool, len(m.content)), 0
				m.end = rapid.SampledFrom([]int64{0, int64(len(m.content))}).Draw(t, "end")
			},
		})
	})
}
