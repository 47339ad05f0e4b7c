package file

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// A thread's id is anything; the name of its folder is an id that every file system takes as it stands: bytes other than
// small letters, digits, '-' and '_' are written %xx. So no two names differ in case or in Unicode form alone, and none is
// "..", hidden, or ends in a dot. Names that Windows keeps for devices begin with an escape. What gets long is cut and
// ends in '~' and the SHA-256 of the id, which no other name holds.
const (
	nameMost = 120
	nameKept = 48
	hexDigit = "0123456789abcdef"
)

func escape(id string) string {
	if id == "" {
		return "%"
	}
	var b strings.Builder
	kept := 0 // how much of it is whole and within nameKept
	for i := range len(id) {
		if b.Len() <= nameKept {
			kept = b.Len()
		}
		c := id[i]
		if !plain(c) || i == 0 && reserved(id) {
			b.Write([]byte{'%', hexDigit[c>>4], hexDigit[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	name := b.String()
	if len(name) <= nameMost {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return name[:kept] + "~" + hex.EncodeToString(sum[:])
}

func plain(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' }

func reserved(id string) bool {
	if len(id) == 4 && (id[:3] == "com" || id[:3] == "lpt") {
		return id[3] >= '0' && id[3] <= '9'
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul"}, id)
}

// unescape is the reverse of escape, where the name tells the id.
func unescape(name string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case plain(c):
			b.WriteByte(c)
		case c == '%' && len(name) == 1:
			return "", true
		case c == '%' && i+2 < len(name):
			x, err := hex.DecodeString(name[i+1 : i+3])
			if err != nil {
				return "", false
			}
			b.WriteByte(x[0])
			i += 2
		default:
			return "", false
		}
	}
	id := b.String()
	return id, escape(id) == name
}
