// Package picture says in words what a terminal does not draw: an image or another file that stands in a text as base64.
package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif"  // to read the size of one
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
)

// Of describes a data: URL of base64, or base64 of an image of a known kind: "[image/png, 640 x 480, 12.3 kB]". false for
// any other text.
func Of(text string) (string, bool) {
	kind, encoded, ok := dataURL(text)
	if !ok {
		if kind, ok = bare(text); !ok {
			return "", false
		}
		encoded = text
	}
	size := int64(base64.StdEncoding.DecodedLen(len(encoded)) - strings.Count(encoded[max(len(encoded)-2, 0):], "="))
	parts := []string{sanitize.Line(kind)}
	if w, h, ok := dimensions(encoded); ok {
		parts = append(parts, fmt.Sprintf("%d x %d", w, h))
	}
	return "[" + strings.Join(append(parts, ago.Bytes(size)), ", ") + "]", true
}

// longestKind bounds the media type of a data: URL.
const longestKind = 100

func dataURL(text string) (kind, encoded string, ok bool) {
	rest, ok := strings.CutPrefix(text, "data:")
	if !ok {
		return "", "", false
	}
	head, encoded, ok := strings.Cut(rest[:min(len(rest), longestKind)], ",")
	if !ok || !strings.HasSuffix(head, ";base64") {
		return "", "", false
	}
	kind, _, _ = strings.Cut(head, ";")
	if kind == "" {
		kind = "text/plain"
	}
	encoded = rest[len(head)+1:]
	return kind, encoded, isBase64(encoded)
}

// bare is the kind of an image that begins with the bytes of one, in base64. What is short is no image.
func bare(text string) (string, bool) {
	const least = 64
	if len(text) < least || !isBase64(text) {
		return "", false
	}
	for _, known := range []struct{ begins, kind string }{
		{"iVBORw0KGgo", "image/png"}, {"/9j/", "image/jpeg"}, {"R0lGOD", "image/gif"}, {"UklGR", "image/webp"}, {"JVBERi0", "application/pdf"},
	} {
		if strings.HasPrefix(text, known.begins) {
			return known.kind, true
		}
	}
	return "", false
}

func isBase64(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '+' && c != '/' && c != '=' && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

// header is how much of an image is read for its size.
const header = 64 << 10

func dimensions(encoded string) (w, h int, ok bool) {
	head := encoded[:min(len(encoded), header)]
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(head)))
	n, _ := base64.StdEncoding.Decode(raw, []byte(head)) // the end may be cut: what was read before it counts
	c, _, err := image.DecodeConfig(bytes.NewReader(raw[:n]))
	return c.Width, c.Height, err == nil
}
