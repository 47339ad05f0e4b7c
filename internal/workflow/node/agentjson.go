package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// document is the whole of a JSON file.
func (s *store) document() (v any, exists bool, err error) {
	text, exists, err := s.existing()
	if err != nil || !exists || len(bytes.TrimSpace(text)) == 0 {
		return nil, exists, err
	}
	if !json.Valid(text) {
		return nil, true, fmt.Errorf("%s is not valid JSON", s.file)
	}
	return engine.RawValue(text).Any(), true, nil
}

// saveJSON writes the file.
func (s *store) saveJSON(v any) error {
	raw, err := marshal(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return s.write(b.Bytes())
}

// readJSON gives the file, a document of it, a part of that, or of a list what a query keeps.
func readJSON(s *store) (any, error) {
	v, exists, err := s.document()
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, fmt.Errorf("%s: there is no such file", s.file)
	}
	if id := s.id(); id != "" {
		v = s.pick(v, id)
	}
	if path := shown(s.given("path")); path != "" {
		v = at(v, strings.Split(path, "."))
	}
	if query := s.given("query"); query != nil {
		return queried(v, query)
	}
	return v, nil
}

// pick is a document: a member of an object, or the item of a list that has the id.
func (s *store) pick(v any, id string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[id]
	case []any:
		if i := s.index(v, id); i >= 0 {
			return v[i]
		}
	}
	return nil
}

// index is the item of a list that has an id, -1 for none.
func (s *store) index(list []any, id string) int {
	field := s.idField()
	return slices.IndexFunc(list, func(item any) bool {
		o, ok := item.(map[string]any)
		return ok && shown(o[field]) == id
	})
}

// at follows a path; what is not there is null.
func at(v any, path []string) any {
	for _, step := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// queried keeps the objects of a list, or of the members of an object, that a query wants.
func queried(v, query any) (any, error) {
	var rows []map[string]any
	collect := func(item any) {
		if o, ok := item.(map[string]any); ok {
			rows = append(rows, o)
		}
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(item)
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			collect(v[name])
		}
	}
	kept, err := filtered(rows, query)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(kept))
	for i, row := range kept {
		list[i] = row
	}
	return list, nil
}

// writeJSON writes the input data: as the whole file, or as a document of it.
func writeJSON(s *store) (any, error) {
	m, err := s.mode()
	if err != nil {
		return nil, err
	}
	whole, exists, err := s.document()
	if err != nil {
		return nil, err
	}
	if m == modeDelete {
		return s.deleteJSON(whole)
	}
	data := s.data()
	if data == nil {
		return nil, errors.New("no data to write: give an input with the name data")
	}
	id, path := s.id(), shown(s.given("path"))
	switch {
	case id != "":
		before := s.pick(whole, id)
		whole, err = s.put(whole, id, changed(m, before, data, path))
	default:
		whole = changed(m, whole, data, path)
	}
	if err != nil {
		return nil, err
	}
	return s.record(m, map[string]any{"created_new": !exists}), s.saveJSON(whole)
}

// changed is a value with data in it: in its place, added to a list, or merged into an object; under a path, there.
func changed(m mode, before, data any, path string) any {
	if path != "" {
		step, rest, _ := strings.Cut(path, ".")
		o, ok := before.(map[string]any)
		if !ok {
			o = map[string]any{}
		}
		o[step] = changed(m, o[step], data, rest)
		return o
	}
	old, isObject := before.(map[string]any)
	more, also := data.(map[string]any)
	switch {
	case m == modeUpdate && isObject && also:
		for key, v := range more {
			old[key] = v
		}
		return old
	case m == modeAppend && before != nil:
		list, isList := before.([]any)
		if !isList {
			list = []any{before}
		}
		if items, ok := data.([]any); ok {
			return append(list, items...)
		}
		return append(list, data)
	case m == modeAppend:
		if _, isList := data.([]any); !isList {
			return []any{data}
		}
	}
	return data
}

// put sets a document of an object or a list.
func (s *store) put(whole any, id string, document any) (any, error) {
	switch in := whole.(type) {
	case nil:
		return map[string]any{id: document}, nil
	case map[string]any:
		in[id] = document
		return in, nil
	case []any:
		o, ok := document.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s holds a list: a document of it is an object", s.file)
		}
		o = maps.Clone(o) // it is the state's
		o[s.idField()] = id
		if i := s.index(in, id); i >= 0 {
			in[i] = o
			return in, nil
		}
		return append(in, o), nil
	}
	return nil, fmt.Errorf("%s holds no documents", s.file)
}

func (s *store) deleteJSON(whole any) (any, error) {
	id := s.id()
	if id == "" {
		return s.remove()
	}
	if s.pick(whole, id) == nil {
		return nil, fmt.Errorf("%s has no document %q", s.file, id)
	}
	switch in := whole.(type) {
	case map[string]any:
		delete(in, id)
	case []any:
		i := s.index(in, id)
		whole = slices.Delete(in, i, i+1)
	}
	return s.record(modeDelete, nil), s.saveJSON(whole)
}
