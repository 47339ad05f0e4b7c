package onewrite

import (
	"encoding/binary"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

const (
	// most is how many bytes are gathered: SQLite's files on Unix take less than 128 KiB in one write.
	most = 64 << 10
	// frameHeader is how many bytes go before a page in the log. The second four of them are 0 but in the last page of a
	// commit.
	frameHeader = 24
)

// log is the file of the write-ahead log.
type log struct {
	methods
	database uintptr // where the database lies
	buffer   uintptr // most bytes
	n        int32   // of them are gathered
	start    int64   // the place in the file of the first of them
	end      int64   // behind the last byte that the transaction appended: what lies before it is overwritten
	commit   bool    // the header written last has the mark of a commit
}

// openLog makes file gather, unless the order of writes and syncs is another one: on a disk that may destroy what stands
// beside what it overwrites, SQLite writes the last page again after the sync. Without memory it does not gather either.
func openLog(tls *libc.TLS, file, place, db, dbPlace uintptr) {
	if at[lib.Tsqlite3_file](db).FpMethods != dbPlace {
		return // a VFS above this one opened the database: its locks are not seen here
	}
	d := at[database](dbPlace)
	if function[traitsFunc](d.base().FxDeviceCharacteristics)(tls, db)&lib.SQLITE_IOCAP_POWERSAFE_OVERWRITE == 0 {
		return
	}
	buffer := lib.Xsqlite3_malloc(tls, most)
	if buffer == 0 {
		return
	}
	l := at[log](place)
	*l = log{database: dbPlace, buffer: buffer}
	l.override(file, place)
	l.FxClose, l.FxRead, l.FxWrite = address(closeLog), address(readLog), address(writeLog)
	l.FxSync, l.FxTruncate, l.FxFileSize = address(syncLog), address(truncateLog), address(sizeOfLog)
	d.log = place
}

// writeLog gathers what is appended, and writes all of it with the last page of a commit.
func writeLog(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	l := ours[log](file)
	header := n == frameHeader
	last := l.commit && !header
	l.commit = header && binary.BigEndian.Uint32(bytes(data, n)[4:]) != 0
	if offset < l.end || n > most {
		return l.through(tls, file, data, n, offset)
	}
	if offset != l.start+int64(l.n) || n > most-l.n {
		if rc := l.flush(tls, file); rc != lib.SQLITE_OK {
			return rc
		}
		l.start = offset
	}
	copy(bytes(l.buffer+uintptr(l.n), n), bytes(data, n))
	l.n += n
	if last {
		if rc := l.flush(tls, file); rc != lib.SQLITE_OK {
			l.n -= n // what is refused is not written later
			return rc
		}
	}
	l.end = offset + int64(n)
	return lib.SQLITE_OK
}

// through writes what cannot wait, after what came before it.
func (l *log) through(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	if rc := l.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	rc := function[transferFunc](l.base().FxWrite)(tls, file, data, n, offset)
	if rc == lib.SQLITE_OK {
		l.end = max(l.end, offset+int64(n))
	}
	return rc
}

// flush writes what is gathered. What cannot be written stays.
func (l *log) flush(tls *libc.TLS, file uintptr) int32 {
	if l.n == 0 {
		return lib.SQLITE_OK
	}
	rc := function[transferFunc](l.base().FxWrite)(tls, file, l.buffer, l.n, l.start)
	if rc == lib.SQLITE_OK {
		l.n = 0
	}
	return rc
}

// forget ends the transaction.
func (l *log) forget() { l.n, l.end, l.commit = 0, 0, false }

func readLog(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	l := ours[log](file)
	if offset < l.start+int64(l.n) && l.start < offset+int64(n) {
		if rc := l.flush(tls, file); rc != lib.SQLITE_OK {
			return rc
		}
	}
	return function[transferFunc](l.base().FxRead)(tls, file, data, n, offset)
}

func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	l := ours[log](file)
	if rc := l.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return function[syncFunc](l.base().FxSync)(tls, file, flags)
}

func truncateLog(tls *libc.TLS, file uintptr, size int64) int32 {
	l := ours[log](file)
	if rc := l.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return function[truncateFunc](l.base().FxTruncate)(tls, file, size)
}

func sizeOfLog(tls *libc.TLS, file, size uintptr) int32 {
	l := ours[log](file)
	if rc := l.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return function[sizeFunc](l.base().FxFileSize)(tls, file, size)
}

// closeLog forgets what is gathered: SQLite closes a log after the end of its last transaction.
func closeLog(tls *libc.TLS, file uintptr) int32 {
	l := ours[log](file)
	at[database](l.database).log = 0
	lib.Xsqlite3_free(tls, l.buffer)
	return function[closeFunc](l.base().FxClose)(tls, file)
}
