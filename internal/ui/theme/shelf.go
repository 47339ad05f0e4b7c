package theme

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/themes"
)

// Shelf finds themes: the bundled ones, and a user's own, of which one goes before the bundled one of its name. The zero
// value has the bundled ones.
type Shelf struct {
	Dir string // folder of the user's NAME.yaml; it need not be there
}

// Names lists the themes, the default first.
func (s Shelf) Names() []string {
	entries, _ := fs.ReadDir(themes.FS, ".")
	own, _ := os.ReadDir(s.Dir) // a folder that cannot be read has no themes; Load says why one is not found
	var names []string
	for _, e := range append(entries, own...) {
		if name, is := strings.CutSuffix(e.Name(), ".yaml"); is && name != Default {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append([]string{Default}, slices.Compact(names)...)
}

// Load reads the theme of that name; "" is the default. What a theme does not say it has from the one it inherits.
func (s Shelf) Load(name string) (*File, error) {
	if name == "" {
		name = Default
	}
	return s.load(name, nil)
}

// load reads a theme on the way from those that inherit it.
func (s Shelf) load(name string, heirs []string) (*File, error) {
	if slices.Contains(heirs, name) && !s.bundled(name) {
		return nil, fmt.Errorf("theme %s inherits itself: %s", name, strings.Join(append(heirs, name), " inherits "))
	}
	data, at, err := s.read(name, slices.Contains(heirs, name))
	if err != nil {
		return nil, err
	}
	f, err := Parse(data, func(base string) (*File, error) { return s.load(base, append(heirs, name)) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if f.Name != name {
		return nil, fmt.Errorf("%s: the theme calls itself %q; it has to be called like its file", at, f.Name)
	}
	return f, nil
}

// read gives the text of a theme and where it stands. shipped passes a user's own over, which inherits the bundled one of
// its name.
func (s Shelf) read(name string, shipped bool) (data []byte, at string, err error) {
	if s.Dir != "" && !shipped && name == filepath.Base(name) {
		at = filepath.Join(s.Dir, name+".yaml")
		if data, err = os.ReadFile(at); !errors.Is(err, fs.ErrNotExist) {
			return data, at, err
		}
	}
	at = name + ".yaml"
	if data, err = fs.ReadFile(themes.FS, at); err != nil {
		return nil, at, fmt.Errorf("theme %q does not exist%s: there are %s", name, nearest.Hint(name, s.Names()), strings.Join(s.Names(), ", "))
	}
	return data, path.Join("themes", at), nil
}

func (s Shelf) bundled(name string) bool {
	_, err := fs.Stat(themes.FS, name+".yaml")
	return err == nil
}
