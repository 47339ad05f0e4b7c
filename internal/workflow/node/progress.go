package node

import (
	"bytes"
	"strings"
)

const (
	maxProgressLine = 4 << 10 // bytes of a line; a longer one comes in parts
	keptLines       = 20      // of stderr for the message of a failure
	keptBytes       = 4 << 10
)

// progress turns what a program writes to stderr into lines, hands each on as it comes, and keeps the last ones.
type progress struct {
	emit    func([]byte) // may be nil
	partial []byte
	last    []string
}

func (p *progress) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			p.partial = append(p.partial, b...)
			b = nil
		} else {
			p.partial = append(p.partial, b[:end]...)
			b = b[end+1:]
		}
		for len(p.partial) > maxProgressLine {
			p.line(p.partial[:maxProgressLine])
			p.partial = p.partial[maxProgressLine:]
		}
		if end >= 0 {
			p.line(p.partial)
			p.partial = nil
		}
	}
	return n, nil
}

// flush hands on a last line that has no newline.
func (p *progress) flush() {
	if len(p.partial) > 0 {
		p.line(p.partial)
		p.partial = nil
	}
}

func (p *progress) line(b []byte) {
	s := strings.ToValidUTF8(strings.TrimSuffix(string(b), "\r"), "\uFFFD")
	if p.emit != nil {
		p.emit([]byte(s))
	}
	if strings.TrimSpace(s) == "" {
		return
	}
	p.last = append(p.last, s)
	if len(p.last) > keptLines {
		p.last = append([]string(nil), p.last[len(p.last)-keptLines:]...)
	}
}

// lastLines is the end of stderr as the end of an error message, "" when nothing was written.
func (p *progress) lastLines() string {
	if len(p.last) == 0 {
		return ""
	}
	s := strings.Join(p.last, "\n")
	if len(s) > keptBytes {
		s = "…" + strings.ToValidUTF8(s[len(s)-keptBytes:], "")
	}
	return ": " + s
}
