package node

import (
	"os"
	"os/exec"
	"syscall"
)

// leash has the kernel kill a program's process group when this process dies, however that happens: the program, and
// what it started, must not go on beside its next run. It is a pipe to which nobody writes. The program and its children
// hold the reading end, of which the group is the asynchronous owner; when the only writing end closes, the kernel signals
// the owner. Nothing has to be running for that. What leaves the group, or closes a file it does not know, escapes.
type leash struct{ reading, writing *os.File }

// leashFD is where a program finds the reading end: above what scripts use by number.
const leashFD = 30

// tie makes the leash of a program that is about to start.
func tie(cmd *exec.Cmd) (*leash, error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = make([]*os.File, leashFD-2) // the first is 3
	cmd.ExtraFiles[leashFD-3] = reading
	return &leash{reading, writing}, nil
}

// hold tells the kernel whom to signal. An error means that the program has ended.
func (l *leash) hold(pid int) {
	for _, set := range [][2]int{
		{syscall.F_SETOWN, -pid}, // the group
		{syscall.F_SETSIG, int(syscall.SIGKILL)},
		{syscall.F_SETFL, syscall.O_ASYNC},
	} {
		l.control(set[0], set[1])
	}
}

// slip ends the leash; what the program left in the background lives on.
func (l *leash) slip() {
	l.control(syscall.F_SETFL, 0)
	_ = l.reading.Close()
	_ = l.writing.Close()
}

func (l *leash) control(command, value int) {
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, l.reading.Fd(), uintptr(command), uintptr(value))
}
