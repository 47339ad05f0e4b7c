// Package exposed finds what of a store's files others than their owner can get at. It changes no mode.
package exposed

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// Warnings tells of the folder of a store and of what lies in it where others can read or write, each with what to do about it
// after a semicolon. Files that others can neither reach nor replace are no risk, whatever their own modes and that of the
// folder are.
func Warnings(folder string, inside ...string) []string {
	if runtime.GOOS == "windows" { // where a mode tells nothing of who may use a file
		return nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil
	}
	var warnings []string
	mode := info.Mode()
	if mode.Perm()&0o022 != 0 && mode&fs.ModeSticky == 0 {
		warnings = append(warnings, fmt.Sprintf("%s has mode %#o, others than its owner may put files in place of the store's; chmod go-w %[1]s", folder, mode.Perm()))
	}
	if mode.Perm()&0o011 == 0 {
		return warnings
	}
	for _, name := range inside {
		if info, err := os.Stat(name); err == nil && info.Mode().Perm()&0o077 != 0 {
			warnings = append(warnings, fmt.Sprintf("%s has mode %#o, others than its owner may use it; chmod go= %[1]s", name, info.Mode().Perm()))
		}
	}
	return warnings
}
