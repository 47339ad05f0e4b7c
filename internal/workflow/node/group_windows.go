package node

import (
	"os/exec"
	"strconv"
	"syscall"
)

// ownGroup keeps the console's Ctrl-C from the program.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup does nothing: Windows has no signal that asks a program without a window to end.
func terminateGroup(*exec.Cmd) {}

// killGroup ends the program and all that descends from it. Errors are ignored: they mean that nothing is left.
func killGroup(cmd *exec.Cmd) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid)).Run()
	_ = cmd.Process.Kill()
}
