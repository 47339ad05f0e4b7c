package onewrite

import (
	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// methods is how what we hold of a file begins: what SQLite calls, and what the VFS below has.
type methods struct {
	lib.Tsqlite3_io_methods
	below uintptr
}

// override makes m, which lies at place, the methods of file.
func (m *methods) override(file, place uintptr) {
	f := at[lib.Tsqlite3_file](file)
	m.below = f.FpMethods
	m.Tsqlite3_io_methods = *m.base()
	f.FpMethods = place
}

func (m *methods) base() *lib.Tsqlite3_io_methods { return at[lib.Tsqlite3_io_methods](m.below) }

// ours is what we hold of a file.
func ours[T any](file uintptr) *T { return at[T](at[lib.Tsqlite3_file](file).FpMethods) }

// database is the file whose methods lock the log.
type database struct {
	methods
	log uintptr // where the log lies that gathers, or 0
}

func openDatabase(file, place uintptr) {
	d := at[database](place)
	*d = database{}
	d.override(file, place)
	d.FxShmLock = address(lockLog)
}

// lockLog forgets what is gathered when the lock for writing is given up: it was not committed, and what comes next at its
// place in the file may be another's.
func lockLog(tls *libc.TLS, file uintptr, first, n, flags int32) int32 {
	d := ours[database](file)
	const release = lib.SQLITE_SHM_UNLOCK | lib.SQLITE_SHM_EXCLUSIVE
	if d.log != 0 && flags&release == release && first <= lib.WAL_WRITE_LOCK && lib.WAL_WRITE_LOCK < first+n {
		at[log](d.log).forget()
	}
	return function[shmLockFunc](d.base().FxShmLock)(tls, file, first, n, flags)
}
