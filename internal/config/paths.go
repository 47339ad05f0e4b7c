package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// app is the name of the program's folder in each base folder.
const app = "hitl-tui"

// Env looks up an environment variable: os.LookupEnv, or a map in a test.
type Env func(name string) (string, bool)

// Paths is the program's own folders. None of them is created by looking for it.
type Paths struct {
	Home   string
	Config string // config.yaml, themes/, workflows/
	Data   string // the store
	State  string // drafts, outbox, log
}

// FindPaths follows the XDG Base Directory Specification: a variable that is unset, empty or relative is ignored, and
// the default below the home taken. It fails only where there is no home and one is needed.
func FindPaths(env Env) (Paths, error) {
	home := first(env, "HOME", "USERPROFILE")
	p := Paths{Home: home}
	for _, dir := range []struct {
		to              *string
		name, otherwise string
	}{
		{&p.Config, "XDG_CONFIG_HOME", ".config"},
		{&p.Data, "XDG_DATA_HOME", ".local/share"},
		{&p.State, "XDG_STATE_HOME", ".local/state"},
	} {
		base, _ := env(dir.name)
		if !filepath.IsAbs(base) {
			if !filepath.IsAbs(home) {
				return Paths{}, fmt.Errorf("neither %s nor HOME is set to an absolute path; set one of them", dir.name)
			}
			base = filepath.Join(home, filepath.FromSlash(dir.otherwise))
		}
		*dir.to = filepath.Join(base, app)
	}
	return p, nil
}

// ConfigFile is the configuration file that is read when none is named.
func (p Paths) ConfigFile() string { return filepath.Join(p.Config, "config.yaml") }

// Themes is the folder of a user's own themes.
func (p Paths) Themes() string { return filepath.Join(p.Config, "themes") }

// Workflows is the folder in which workflows are found by name when the configuration lists none.
func (p Paths) Workflows() string { return filepath.Join(p.Config, "workflows") }

// Store is the URL of the store that is used when none is named.
func (p Paths) Store() string { return "sqlite:" + filepath.Join(p.Data, "desk.db") }

// first is the value of the first of these variables that is set and not empty.
func first(env Env, names ...string) string {
	for _, name := range names {
		if v, ok := env(name); ok && v != "" {
			return v
		}
	}
	return ""
}

// MakePrivate makes sure that dir is there and its owner's alone. A folder, and those above it, that it has to create
// get the mode 0700. One that others can read is left as it is and reported by a *LooseError, which the caller may
// show and go on.
func MakePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && os.PathSeparator == '/' {
		return &LooseError{Path: dir, Mode: mode}
	}
	return nil
}

// LooseError says that others than the owner can read a folder that holds people's decisions.
type LooseError struct {
	Path string
	Mode fs.FileMode
}

// Error gives the remedy.
func (e *LooseError) Error() string {
	return fmt.Sprintf("%s can be read by others (mode %04o); run: chmod 700 %s", e.Path, e.Mode, strconv.Quote(e.Path))
}

// SystemUser is the name of the user who runs the program, the reviewer when none is named.
func SystemUser(env Env) (string, error) {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username[strings.LastIndexByte(u.Username, '\\')+1:], nil // without the domain of Windows
	}
	if name := first(env, "USER", "LOGNAME", "USERNAME"); name != "" {
		return name, nil
	}
	return "", errors.New("the system does not say who you are; name yourself with --reviewer")
}
