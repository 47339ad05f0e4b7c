package llm

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// eventsOf reads a stream to its end.
func eventsOf(t testing.TB, r io.Reader) []event {
	t.Helper()
	var list []event
	events := newEventReader(r)
	for {
		e, err := events.next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		want         []event
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []event{{"", "a"}}},
		{"named", "event: ping\ndata: {}\n\n", []event{{"ping", "{}"}}},
		{"several lines", "data: a\ndata:\ndata: b\n\n", []event{{"", "a\n\nb"}}},
		{"one space is taken away", "data:a\n\ndata:  b\n\n", []event{{"", "a"}, {"", " b"}}},
		{"ends of lines", "data: a\r\ndata: b\rdata: c\n\r\ndata: d\r\rdata: e\r\n\r\n", []event{{"", "a\nb\nc"}, {"", "d"}, {"", "e"}}},
		{"comments and other fields", ": OPENROUTER PROCESSING\n\nid: 7\nretry: 10\nwhatever\ndata: a\n: in the midst\n\n:\n", []event{{"", "a"}}},
		{"no data, no event", "event: ping\n\ndata: a\n\n", []event{{"", "a"}}},
		{"empty data", "data\n\n", []event{{"", ""}}},
		{"mark of the encoding", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []event{{"", "a"}}},
		{"colons", "data: a: b\n\n", []event{{"", "a: b"}}},
		{"no last line", "data: a\n\ndata: [DONE]", []event{{"", "a"}, {"", "[DONE]"}}},
		{"no last empty line", "data: a\n", []event{{"", "a"}}},
		{"a name without data at the end", "data: a\n\nevent: x", []event{{"", "a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := eventsOf(t, strings.NewReader(c.stream)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := eventsOf(t, iotest.OneByteReader(strings.NewReader(c.stream))); !slices.Equal(got, c.want) {
				t.Errorf("byte by byte: got %q, want %q", got, c.want)
			}
		})
	}
}

// TestAnEventIsGivenAtOnce: an event that ends with \r does not wait for the \n that may follow it.
func TestAnEventIsGivenAtOnce(t *testing.T) {
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r"} {
		r, w := io.Pipe()
		go func() { _, _ = io.WriteString(w, "data: a"+end) }()
		if e, err := newEventReader(r).next(); err != nil || e.data != "a" {
			t.Errorf("%q: %q, %v", end, e, err)
		}
		r.Close()
	}
}

func TestABrokenStreamIsNoEndOfOne(t *testing.T) {
	reset := errors.New("connection reset")
	events := newEventReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(reset)))
	if e, err := events.next(); err != nil || e.data != "a" {
		t.Errorf("%q, %v", e, err)
	}
	if e, err := events.next(); !errors.Is(err, reset) {
		t.Errorf("%q, %v", e, err)
	}
}

// FuzzEvents compares the reader with the plainest reading of the standard: the whole stream at once, line by line.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata\r\rdata: b\ndata:c\n\n: c\n\n", "\ufeffdata: a\r\n\r\nid:1\n\n", "data: [DONE]", "\r\n\r\rdata:\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		want := plainly(stream)
		if got := eventsOf(t, strings.NewReader(stream)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", stream, got, want)
		}
		if got := eventsOf(t, iotest.HalfReader(strings.NewReader(stream))); !slices.Equal(got, want) {
			t.Errorf("%q in pieces: got %q, want %q", stream, got, want)
		}
	})
}

func plainly(stream string) []event {
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(stream, "\ufeff"))
	var list []event
	for _, block := range strings.Split(stream, "\n\n") {
		var name string
		var data []string
		for _, line := range strings.Split(block, "\n") {
			if line == "" && data == nil { // the third of three ends of lines in a row
				name = ""
			}
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "event":
				name = value
			case "data":
				data = append(data, value)
			}
		}
		if data != nil {
			list = append(list, event{name, strings.Join(data, "\n")})
		}
	}
	return list
}
