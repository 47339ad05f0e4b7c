package llm

import (
	"bufio"
	"bytes"
	"io"
)

// event is one event of a stream of server-sent events.
type event struct {
	name string // "" is "message"
	data string // lines joined by \n
}

// eventReader reads server-sent events as the HTML standard says, but for reconnection, which a request that is not to
// be repeated unasked has no use for. Lines end with \n, \r\n or \r, and may come in any pieces. An event whose end is
// that of the stream is given too: some servers leave out the last empty line.
type eventReader struct {
	r      *bufio.Reader
	line   []byte
	begun  bool // the first line was read
	skipLF bool // the line before ended with \r
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{r: bufio.NewReader(r)}
}

// next is the next event that has data. The error is io.EOF at the end of the stream, else that of the reader.
func (e *eventReader) next() (event, error) {
	var name string
	var data []byte
	has := false
	for {
		line, err := e.readLine()
		if err != nil && (err != io.EOF || !has && len(line) == 0) {
			return event{}, err
		}
		if len(line) > 0 {
			switch field, value := fieldOf(line); field {
			case "event":
				name = value
			case "data":
				if has {
					data = append(data, '\n')
				}
				data, has = append(data, value...), true
			}
		}
		if len(line) == 0 || err != nil {
			if has {
				return event{name, string(data)}, nil
			}
			if err != nil {
				return event{}, err
			}
			name = ""
		}
	}
}

// fieldOf takes a line apart; a comment has the field "".
func fieldOf(line []byte) (field, value string) {
	name, rest, _ := bytes.Cut(line, []byte(":"))
	return string(name), string(bytes.TrimPrefix(rest, []byte(" ")))
}

// readLine is the next line without its end, valid until the next call. With io.EOF comes what followed the last end of
// a line. A line that ends with \r is given at once: what follows may be long in coming.
func (e *eventReader) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		if _, err := e.r.Peek(1); err != nil {
			return e.first(e.line), err
		}
		here, _ := e.r.Peek(e.r.Buffered()) // what has come already, so that nothing is waited for
		if e.skipLF && here[0] == '\n' {
			e.skipLF = false
			e.discard(1)
			continue
		}
		e.skipLF = false
		end := bytes.IndexAny(here, "\r\n")
		if end < 0 {
			e.line = append(e.line, here...)
			e.discard(len(here))
			continue
		}
		e.line = append(e.line, here[:end]...)
		e.skipLF = here[end] == '\r'
		e.discard(end + 1)
		return e.first(e.line), nil
	}
}

// discard goes on over n bytes that have been peeked at, which cannot fail.
func (e *eventReader) discard(n int) { _, _ = e.r.Discard(n) }

// first takes the byte order mark away from the first line.
func (e *eventReader) first(line []byte) []byte {
	if e.begun {
		return line
	}
	e.begun = true
	return bytes.TrimPrefix(line, []byte("\ufeff"))
}
