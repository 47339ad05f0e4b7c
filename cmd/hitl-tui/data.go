package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// inputLimit bounds what is read from a file or standard input in one go.
const inputLimit = 16 << 20

// read reads a file, or standard input for "-".
func (a *app) read(name string, limit int64) ([]byte, error) {
	var from io.Reader = a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(text)) > limit {
		return nil, &desk.Error{Code: desk.CodeTooLarge, Message: fmt.Sprintf("%s is larger than %d bytes", name, limit)}
	}
	return text, nil
}

// readJSON reads one JSON value and refuses anything behind it.
func (a *app) readJSON(name string, limit int64) (json.RawMessage, error) {
	text, err := a.read(name, limit)
	if err != nil {
		return nil, err
	}
	return oneJSON(name, text)
}

// oneJSON checks that text is one JSON value.
func oneJSON(what string, text []byte) (json.RawMessage, error) {
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, invalidf("%s is not valid JSON: %s", what, jsonFault(text, err))
	}
	return value, nil
}

// jsonFault names the place of a JSON mistake.
func jsonFault(text []byte, err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		before := string(text[:min(int(syntax.Offset), len(text))])
		line := strings.Count(before, "\n") + 1
		column := len(before) - strings.LastIndexByte(before, '\n') - 1
		return fmt.Sprintf("%v at line %d, column %d", err, line, max(column, 1))
	}
	return err.Error()
}

// fields makes an object of KEY=VALUE pairs. Values are texts; whoever takes them coerces by schema.
func fields(pairs []string) (map[string]json.RawMessage, error) {
	object := make(map[string]json.RawMessage, len(pairs))
	for _, pair := range pairs {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return nil, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("-F %q is not KEY=VALUE", pair)}
		}
		if _, twice := object[key]; twice {
			return nil, &desk.Error{Code: desk.CodeUsage, Message: fmt.Sprintf("-F gives %q twice", key)}
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		object[key] = text
	}
	return object, nil
}

// response is the data of an answer from its flags: JSON, a file, or fields; nil without any.
func (a *app) response(data string, dataSet bool, file string, pairs []string) (json.RawMessage, error) {
	given := 0
	for _, is := range []bool{dataSet, file != "", len(pairs) > 0} {
		if is {
			given++
		}
	}
	if given > 1 {
		return nil, &desk.Error{Code: desk.CodeUsage, Message: "give the data once: with -d, with -f, or with -F"}
	}
	switch {
	case dataSet:
		if len(data) > 8*actions.MaxSize {
			return nil, &desk.Error{Code: desk.CodeTooLarge, Message: fmt.Sprintf("the data is %d bytes, the limit is %d", len(data), actions.MaxSize)}
		}
		return oneJSON("-d", []byte(data))
	case file != "":
		return a.readJSON(file, 8*actions.MaxSize)
	case len(pairs) > 0:
		object, err := fields(pairs)
		if err != nil {
			return nil, err
		}
		return json.Marshal(object)
	}
	return nil, nil
}

func invalidf(format string, args ...any) error {
	return &desk.Error{Code: desk.CodeInvalidData, Message: fmt.Sprintf(format, args...)}
}
