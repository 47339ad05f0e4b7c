package workflow

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// promptRegistry is the file in which AgentMap keeps prompts by their names.
const promptRegistry = "registry.yaml"

// promptFolders are where prompts are looked for, relative to the CSV file that names them: AgentMap has one folder of prompts
// for a project, in which the CSV files lie too or have a folder of their own.
func promptFolders() []string { return []string{"prompts", "../prompts", "."} }

// prompt is the text that a Prompt cell of a CSV file names: prompt:NAME a text of the registry, file:PATH a file, and
// yaml:PATH#KEY.KEY a text in a YAML file. A thread keeps what it read, as it does with workflows. One that began before this
// was so has the cell as it is.
func (b *bundle) prompt(csv, ref string) (string, error) {
	scheme, file, _ := strings.Cut(ref, ":")
	key := ""
	switch scheme {
	case "prompt":
		file, key = promptRegistry, file
	case "yaml":
		if file, key, _ = strings.Cut(file, "#"); file == "" || key == "" {
			return "", errors.New("a text in a YAML file is named yaml:FILE#KEY, with dots between the keys that lead to it")
		}
	}
	name, text, err := b.promptFile(csv, file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !b.fresh:
		return ref, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s in the folders %s, from where the CSV file is", file, strings.Join(promptFolders(), ", "))
	case err != nil:
		return "", err
	case len(text) > maxBytes:
		return "", fmt.Errorf("%s is larger than %d MiB", b.source.show(name), maxBytes>>20)
	}
	if text = withoutReturns(text); key == "" {
		return strings.TrimSpace(text), nil
	}
	shown := b.source.show(name)
	src := newSource(shown, text)
	root := parseYAML(src, text)
	if len(src.faults) > 0 {
		f := src.faults.sorted()[0]
		return "", fmt.Errorf("%s:%d:%d: %s", shown, f.Line, f.Column, f.Message)
	}
	// In the registry a name may have dots of its own.
	if v := root.get(key); scheme == "prompt" && v != nil {
		return promptText(v, shown, key)
	}
	return promptAt(root, shown, key)
}

// promptAt is the text to which keys with dots between them lead.
func promptAt(v *value, shown, keys string) (string, error) {
	for _, key := range strings.Split(keys, ".") {
		next := v.get(key)
		if next == nil {
			var known []string
			for _, e := range v.entries {
				known = append(known, e.key.text)
			}
			return "", fmt.Errorf("%s has no text %s%s", shown, keys, nearest.Hint(key, known))
		}
		v = next
	}
	return promptText(v, shown, keys)
}

func promptText(v *value, shown, key string) (string, error) {
	if v.shape != scalarShape {
		return "", fmt.Errorf("what %s has under %s is no text", shown, key)
	}
	return strings.TrimSpace(v.text), nil
}

// promptFile reads a file of prompts, once, and keeps it among the files of the bundle.
func (b *bundle) promptFile(csv, file string) (name, text string, err error) {
	folders := promptFolders()
	if path.IsAbs(file) || filepath.IsAbs(file) {
		folders = []string{""}
	}
	for _, folder := range folders {
		name = beside(csv, path.Join(folder, filepath.ToSlash(file)))
		if text, ok := b.prompts[name]; ok {
			return name, text, nil
		}
		if text, err = b.source.read(name); err == nil {
			if b.prompts == nil {
				b.prompts = map[string]string{}
			}
			b.prompts[name] = text
			b.files = append(b.files, checkpoint.File{Path: name, Text: text})
			return name, text, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return name, "", err
		}
	}
	return name, "", err
}
