// Package onewrite is a VFS for SQLite that gives a transaction to the write-ahead log in one write.
//
// SQLite appends a page to the log with two writes, one of its header of 24 bytes and one of the page. None of them is
// aligned, and each costs the file system nearly as much as a long one does.
// Here what is appended is gathered and written when the page is there that ends the transaction. All else is left to the
// default VFS, whose files are the same to every program: other connections and other processes need not know of it.
//
// What makes it safe, of which a reader of SQLite's wal.c can convince himself:
//
//   - SQLite publishes a transaction in the wal-index only after it wrote the last page of it, whose header has the mark of
//     a commit. That write writes all that was gathered, and gives back the error. So with any synchronous setting nothing is
//     visible, waited for or acknowledged that is not in the file.
//   - Nobody reads what is not published, but for the connection itself: pages that did not fit into its cache. Such a read
//     writes first.
//   - What is gathered when the lock for writing is given up belongs to a transaction that was undone. It is forgotten: the
//     next writer, here or elsewhere, writes to the same place.
//   - Bytes that SQLite was told are written are kept until they are, or until their transaction ends: after an error
//     the next write, read or sync tries again, so a failure cannot be passed over.
//   - Only what is appended is gathered. What is written once more, such as checksums after a page of the same transaction was
//     replaced, follows all that was gathered, at once.
//
// It is no cache: nothing is kept from one transaction to the next.
package onewrite

import (
	"fmt"
	"runtime"
	"sync"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// VFS is the name under which the VFS is registered, to be given as the parameter vfs of a connection that writes. On
// Windows, where it has not been tried, it is "": the default.
func VFS() (string, error) {
	if runtime.GOOS == "windows" {
		return "", nil
	}
	return registered()
}

// registered registers the VFS once, as SQLite's list of them is one for the process.
var registered = sync.OnceValues(register)

// shim is what SQLite holds of the VFS, in memory of its own and for good.
type shim struct {
	lib.Tsqlite3_vfs
	base uintptr // the VFS below
}

func register() (string, error) {
	const name = "onewrite"
	tls := libc.NewTLS()
	defer tls.Close()
	base := lib.Xsqlite3_vfs_find(tls, 0)
	if base == 0 {
		return "", fmt.Errorf("SQLite has no default VFS to put %s upon", name)
	}
	text, err := libc.CString(name)
	if err != nil {
		return "", fmt.Errorf("register the VFS %s: %w", name, err)
	}
	p := lib.Xsqlite3_malloc(tls, sizeOf[shim]())
	if p == 0 {
		libc.Xfree(tls, text)
		return "", fmt.Errorf("register the VFS %s: out of memory", name)
	}
	v := at[shim](p)
	*v = shim{Tsqlite3_vfs: *at[lib.Tsqlite3_vfs](base), base: base}
	v.FpNext, v.FzName, v.FxOpen = 0, text, address(open)
	v.FszOsFile = int32(behind(base)) + max(sizeOf[database](), sizeOf[log]())
	if rc := lib.Xsqlite3_vfs_register(tls, p, 0); rc != lib.SQLITE_OK {
		lib.Xsqlite3_free(tls, p)
		libc.Xfree(tls, text)
		return "", fmt.Errorf("register the VFS %s: SQLite's error %d", name, rc)
	}
	return name, nil
}

// behind is where in the memory of a file that of the VFS below ends and ours begins.
func behind(base uintptr) uintptr { return (uintptr(at[lib.Tsqlite3_vfs](base).FszOsFile) + 7) &^ 7 }

// open opens a file of the VFS below and, if it is a database or its log, sets methods of ours before those of the file.
func open(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	base := at[shim](vfs).base
	rc := function[openFunc](at[lib.Tsqlite3_vfs](base).FxOpen)(tls, base, name, file, flags, outFlags)
	if rc != lib.SQLITE_OK {
		return rc
	}
	switch {
	case flags&lib.SQLITE_OPEN_MAIN_DB != 0:
		openDatabase(file, file+behind(base))
	case flags&lib.SQLITE_OPEN_WAL != 0:
		db := lib.Xsqlite3_database_file_object(tls, name)
		openLog(tls, file, file+behind(base), db, db+behind(base))
	}
	return lib.SQLITE_OK
}
