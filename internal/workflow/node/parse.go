package node

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// Parse says what a program's output is made into.
type Parse string

// The ways to read output; Text is the default.
const (
	ParseText  Parse = "text" // one final newline removed
	ParseRaw   Parse = "raw"
	ParseLines Parse = "lines"
	ParseJSON  Parse = "json"
	ParseCSV   Parse = "csv" // header row; objects; every value a text
)

// parse reads output. State is JSON, so that what is not UTF-8 cannot be kept and is an error.
func parse(as Parse, output []byte) (engine.Value, error) {
	if at := firstInvalid(output); at >= 0 {
		return engine.Value{}, fmt.Errorf("is not UTF-8 text (byte 0x%02x at offset %d); let the sender encode it, with base64 for example", output[at], at)
	}
	switch as {
	case "", ParseText:
		return engine.ValueOf(withoutNewline(string(output)))
	case ParseRaw:
		return engine.ValueOf(string(output))
	case ParseLines:
		lines := []any{}
		for line := range strings.Lines(string(output)) {
			lines = append(lines, withoutNewline(line))
		}
		return engine.ValueOf(lines)
	case ParseJSON:
		return parseJSON(output)
	case ParseCSV:
		return parseCSV(output)
	}
	return engine.Value{}, engine.Permanent(fmt.Errorf("unknown parse %q", as))
}

func firstInvalid(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func withoutNewline(s string) string {
	if t, ok := strings.CutSuffix(s, "\n"); ok {
		return strings.TrimSuffix(t, "\r")
	}
	return s
}

// parseJSON reads exactly one value.
func parseJSON(output []byte) (engine.Value, error) {
	if len(bytes.TrimSpace(output)) == 0 {
		return engine.Value{}, errors.New("is empty, where one JSON value is expected")
	}
	var v any
	if err := json.Unmarshal(output, &v); err != nil {
		return engine.Value{}, fmt.Errorf("is not one JSON value: %w%s", err, near(output, err))
	}
	return engine.ValueOf(json.RawMessage(output))
}

// near shows where in output a JSON error is.
func near(output []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ""
	}
	at := min(max(int(syntax.Offset)-1, 0), len(output))
	return fmt.Sprintf(", at byte %d: %.40q", at, string(output[at:min(at+40, len(output))]))
}

func parseCSV(output []byte) (engine.Value, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(output, []byte("\uFEFF"))))
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return engine.Value{}, errors.New("has no header row")
	}
	if err != nil {
		return engine.Value{}, fmt.Errorf("is not CSV: %w", err)
	}
	seen := map[string]bool{}
	for i, name := range header {
		if name == "" {
			return engine.Value{}, fmt.Errorf("column %d has no name in the header row", i+1)
		}
		if seen[name] {
			return engine.Value{}, fmt.Errorf("two columns are named %q", name)
		}
		seen[name] = true
	}
	rows := []any{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return engine.ValueOf(rows)
		}
		if err != nil {
			return engine.Value{}, fmt.Errorf("is not CSV: %w", err)
		}
		row := make(map[string]any, len(record))
		for i, cell := range record {
			row[header[i]] = cell
		}
		rows = append(rows, row)
	}
}
