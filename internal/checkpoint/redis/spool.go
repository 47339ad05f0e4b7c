package redis

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// spool keeps entries of bytes in a file until they are wanted, in the order in which they came. Close removes it.
type spool struct {
	f    *os.File
	w    *bufio.Writer
	size int64
}

func newSpool(folder string) (*spool, error) {
	f, err := os.CreateTemp(folder, ".hitl-tui-backup-*") // its owner's alone
	if err != nil {
		return nil, err
	}
	return &spool{f: f, w: bufio.NewWriterSize(f, 1<<18)}, nil
}

func (s *spool) close() {
	s.f.Close()
	os.Remove(s.f.Name())
}

func (s *spool) add(entry []byte) error {
	length := binary.AppendUvarint(nil, uint64(len(entry)))
	for _, b := range [][]byte{length, entry} {
		if _, err := s.w.Write(b); err != nil {
			return err
		}
		s.size += int64(len(b))
	}
	return nil
}

// cut drops what came after the spool had that size.
func (s *spool) cut(size int64) error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	if err := s.f.Truncate(size); err != nil {
		return err
	}
	s.size = size
	_, err := s.f.Seek(size, io.SeekStart)
	return err
}

// entries yields what is in the spool.
func (s *spool) entries() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := s.w.Flush()
		r := bufio.NewReaderSize(io.NewSectionReader(s.f, 0, s.size), 1<<18)
		for err == nil {
			var length uint64
			if length, err = binary.ReadUvarint(r); err != nil {
				break
			}
			entry := make([]byte, length)
			if _, err = io.ReadFull(r, entry); err == nil && !yield(entry, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(nil, fmt.Errorf("what was put aside for the backup: %w", err))
		}
	}
}
