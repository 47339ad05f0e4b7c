//go:build unix

package node

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the program into a session, and with it a process group, of its own: the group can be ended as a whole,
// the terminal's Ctrl-C does not reach it, and it cannot open the terminal on which the desk is drawn.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func terminateGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGTERM) }

func killGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGKILL) }

// signalGroup ignores the error: a group without processes is what is wanted.
func signalGroup(cmd *exec.Cmd, s syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, s) }
