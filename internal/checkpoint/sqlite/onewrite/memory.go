package onewrite

import (
	"unsafe"

	"modernc.org/libc"
)

// The functions of a VFS and of its files, as SQLite calls them.
type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
	transferFunc = func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
	sizeFunc     = func(tls *libc.TLS, file, size uintptr) int32
	traitsFunc   = func(tls *libc.TLS, file uintptr) int32
	shmLockFunc  = func(tls *libc.TLS, file uintptr, first, n, flags int32) int32
)

// at is what lies at an address of SQLite's memory, which Go's collector neither knows nor moves. T must hold no pointers of
// Go: it could not see them there.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// bytes are n bytes of SQLite's memory.
func bytes(address uintptr, n int32) []byte { return unsafe.Slice(at[byte](address), n) }

func sizeOf[T any]() int32 {
	var t T
	return int32(unsafe.Sizeof(t))
}

// function is the function that SQLite holds as an address.
func function[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&address)) }

// address is a function as SQLite holds it. f must be declared by name, not be a closure: those the collector would free.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }
