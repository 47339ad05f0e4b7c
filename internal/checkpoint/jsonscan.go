package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The scanner below finds where JSON values begin and end, and no more: values are JSON already, and copying their
// bytes is what keeps a state exact.

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func trimSpace(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// unwrap gives what is between the brackets of a list or an object.
func unwrap(raw []byte, open, shut byte) ([]byte, error) {
	b := trimSpace(raw)
	if len(b) < 2 || b[0] != open || b[len(b)-1] != shut {
		kind := "a list"
		if open == '{' {
			kind = "an object"
		}
		return nil, fmt.Errorf("want %s, found %s", kind, excerpt(b))
	}
	return trimSpace(b[1 : len(b)-1]), nil
}

func excerpt(b []byte) string {
	const limit = 24
	if len(b) > limit {
		return fmt.Sprintf("%q...", b[:limit])
	}
	return fmt.Sprintf("%q", b)
}

var errTruncated = errors.New("the object is cut off or malformed")

func scanObject(raw []byte) ([]member, error) {
	b, err := unwrap(raw, '{', '}')
	if err != nil {
		return nil, err
	}
	var members []member
	for i := 0; len(b) > 0; {
		if b[i] != '"' {
			return nil, errTruncated
		}
		end := stringEnd(b, i)
		if end < 0 {
			return nil, errTruncated
		}
		m := member{key: b[i:end]}
		if m.name, err = keyName(m.key); err != nil {
			return nil, fmt.Errorf("key %s: %w", excerpt(m.key), err)
		}
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return nil, errTruncated
		}
		i = skipSpace(b, i+1)
		end = valueEnd(b, i)
		if end <= i {
			return nil, errTruncated
		}
		m.value = b[i:end]
		members = append(members, m)
		i = skipSpace(b, end)
		if i == len(b) {
			break
		}
		if b[i] != ',' {
			return nil, errTruncated
		}
		if i = skipSpace(b, i+1); i == len(b) {
			return nil, errTruncated
		}
	}
	return members, nil
}

// keyName is the text of a key. Most are plain ASCII, which needs no decoding.
func keyName(key []byte) (name string, err error) {
	for _, c := range key[1 : len(key)-1] {
		if c < ' ' || c > '~' || c == '\\' {
			err = json.Unmarshal(key, &name)
			return name, err
		}
	}
	return string(key[1 : len(key)-1]), nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// stringEnd gives the index after the string that begins at i, -1 when it does not end.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// valueEnd gives the index after the value that begins at i, -1 when it does not end.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i
			}
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || isSpace(c)):
			return i
		}
		i++
	}
	if depth != 0 {
		return -1
	}
	return i
}
