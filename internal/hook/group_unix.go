//go:build unix

package hook

import (
	"os/exec"
	"syscall"
)

// ownGroup has a program and its children ended together, and keeps the keys of the terminal from them.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
