package checkpoint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// Fingerprint names the text of a definition: the SHA-256, in hex, of every path and text in order. Lengths go in
// too, so no two lists of files share a fingerprint by running into each other.
func Fingerprint(files []File) string {
	h := sha256.New()
	for _, f := range files {
		hashField(h, f.Path)
		hashField(h, f.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Verified gives d as a store read it under fingerprint, or an ErrCorrupt that names it when its files are not those the
// fingerprint was made of: what was changed behind the store's back must not run as what was reviewed.
func (d *Definition) Verified(fingerprint string) (*Definition, error) {
	if found := Fingerprint(d.Files); found != fingerprint {
		return nil, fmt.Errorf("%w: the files of definition %s were changed: their fingerprint is %s", ErrCorrupt, fingerprint, found)
	}
	return d, nil
}

func hashField[T string | []byte](h hash.Hash, field T) {
	hashInt(h, int64(len(field)))
	h.Write([]byte(field))
}

func hashInt(h hash.Hash, n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}
