//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// whenUnread calls do as soon as nobody reads a pipe any more, and not only at the next write to it, which may be hours
// away; of another file never. Until it is stopped such a write fails and does not end the program.
func whenUnread(f *os.File, do func()) (stop func()) {
	info, err := f.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return func() {}
	}
	stopped, end, err := os.Pipe()
	if err != nil {
		return func() {} // then it is noticed at the next write
	}
	signal.Ignore(syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer stopped.Close()
		// With no events asked for, poll tells the end alone.
		files := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(stopped.Fd())}}
		for {
			_, err := unix.Poll(files, -1)
			switch {
			case errors.Is(err, unix.EINTR):
				continue
			case err == nil && files[0].Revents != 0:
				do()
			}
			return
		}
	}()
	return func() {
		end.Close()
		<-done
		signal.Reset(syscall.SIGPIPE)
	}
}
