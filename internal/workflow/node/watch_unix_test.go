//go:build unix

package node_test

import (
	"io"
	"os"
	"syscall"
	"testing"
)

// watch makes a FIFO and returns a channel that is closed when every process that opened it for writing is gone.
func watch(t *testing.T, path string) <-chan struct{} {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		f, err := os.Open(path) // waits for a writer
		if err != nil {
			return
		}
		defer f.Close()
		_, _ = io.Copy(io.Discard, f)
	}()
	return gone
}
