package agentmap

import (
	"strings"
	"unicode/utf8"
)

// cell is one cell of a row. Its text is what it means; raw is how it is written, with quotes.
type cell struct {
	text    string
	at      Place // of its first character, which may be a quote
	raw     string
	quoted  bool
	slashes bool // quotes in it are written \" rather than ""
}

// trimmed is the cell without the blanks around its text.
func (c cell) trimmed() cell {
	text := strings.TrimSpace(c.text)
	if len(text) == len(c.text) {
		return c
	}
	return c.part(strings.Index(c.text, text), text)
}

// part is a piece of the cell that begins at a byte of its text.
func (c cell) part(from int, text string) cell { return cell{text: text, at: c.place(from), raw: text} }

// place is where a byte of the cell's text stands in the file.
func (c cell) place(offset int) Place {
	w := c.walk()
	return w.to(offset)
}

// walk begins at the first character of the cell's text.
func (c cell) walk() *walker {
	w := &walker{cell: c, at: c.at, raw: c.raw}
	if c.quoted {
		w.at.Column++
		w.raw = w.raw[1:]
	}
	return w
}

// walker finds the places of bytes of a cell's text, one after the other.
type walker struct {
	cell   cell
	at     Place
	raw    string // what is still to be walked over
	offset int    // in the text
}

func (w *walker) to(offset int) Place {
	for len(w.raw) > 0 && w.offset < offset {
		if w.cell.quoted && len(w.raw) > 1 && w.raw[1] == '"' && (w.raw[0] == '"' || w.cell.slashes && w.raw[0] == '\\') {
			w.raw = w.raw[1:]
			w.at.Column++
		}
		r, size := utf8.DecodeRuneInString(w.raw)
		if w.at.Column++; r == '\n' {
			w.at = Place{w.at.Line + 1, 1}
		}
		w.raw, w.offset = w.raw[size:], w.offset+size
	}
	return w.at
}

// split cuts the text at a separator and leaves out what is empty, as AgentMap does in all its lists.
func (c cell) split(separator string) []cell {
	var parts []cell
	from, w := 0, c.walk()
	for _, text := range strings.Split(c.text, separator) {
		part := cell{text: text, at: w.to(from), raw: text}
		if part = part.trimmed(); part.text != "" {
			parts = append(parts, part)
		}
		from += len(text) + len(separator)
	}
	return parts
}

// scanner cuts a text into rows of cells.
type scanner struct {
	text     string
	comma    byte
	pos      int
	at       Place
	faults   faults
	warnings faults
	broken   bool // a quote of the present row is: how many cells it has is not known
	row      []cell
}

// scannedRow is a row that holds something.
type scannedRow struct {
	cells  []cell
	broken bool
}

// scan reads every row that is not blank.
func scan(text string, comma byte) (rows []scannedRow, faults, warnings faults) {
	s := &scanner{text: text, comma: comma, at: Place{1, 1}}
	for s.pos < len(s.text) {
		s.row, s.broken = nil, false
		s.readRow()
		blank := true
		for _, c := range s.row {
			blank = blank && strings.TrimSpace(c.text) == ""
		}
		if !blank || s.broken {
			rows = append(rows, scannedRow{s.row, s.broken})
		}
	}
	return rows, s.faults, s.warnings
}

// step goes over so many bytes.
func (s *scanner) step(n int) {
	for _, r := range s.text[s.pos : s.pos+n] {
		if s.at.Column++; r == '\n' {
			s.at = Place{s.at.Line + 1, 1}
		}
	}
	s.pos += n
}

func (s *scanner) readRow() {
	for {
		blanks := 0
		for s.pos+blanks < len(s.text) && (s.text[s.pos+blanks] == ' ' || s.text[s.pos+blanks] == '\t' && s.comma != '\t') {
			blanks++
		}
		if s.pos+blanks < len(s.text) && s.text[s.pos+blanks] == '"' {
			s.step(blanks)
			s.quoted()
		} else {
			s.plain()
		}
		if s.pos == len(s.text) {
			return
		}
		end := s.text[s.pos] == '\n'
		if s.step(1); end {
			return
		}
		if s.pos == len(s.text) { // a comma ends the file: an empty cell follows
			s.row = append(s.row, cell{at: s.at})
			return
		}
	}
}

// plain reads a cell without quotes around it.
func (s *scanner) plain() {
	end := strings.IndexAny(s.text[s.pos:], string(s.comma)+"\n")
	if end < 0 {
		end = len(s.text) - s.pos
	}
	text := s.text[s.pos : s.pos+end]
	s.row = append(s.row, cell{text: text, at: s.at, raw: text})
	s.step(end)
}

// quoted reads a cell in quotes. A quote in it is written twice, or as \" where it could otherwise not be in a cell.
func (s *scanner) quoted() {
	begin, at := s.pos, s.at
	c := cell{at: at, quoted: true}
	var text []byte
	i := s.pos + 1
	for {
		end := strings.IndexByte(s.text[i:], '"')
		if end < 0 {
			s.faults.add(at, "this quote is never closed: a cell that begins with a quote ends with one")
			s.broken = true
			line := strings.IndexByte(s.text[begin:], '\n')
			if line < 0 {
				line = len(s.text) - begin
			}
			s.row = append(s.row, cell{text: s.text[begin : begin+line], at: at, raw: s.text[begin : begin+line]})
			s.step(line)
			return
		}
		text = append(text, s.text[i:i+end]...)
		i += end + 1
		escaped := s.text[i-2] == '\\' && i-2 > begin
		switch {
		case escaped && (c.slashes || !s.endsAt(i) && s.text[i] != '"'):
			if !c.slashes {
				c.slashes = true
				s.warnings.add(at, `the quotes in this cell are written \": CSV writes them twice (""), and AgentMap cannot read them so`)
			}
			text[len(text)-1] = '"'
		case i < len(s.text) && s.text[i] == '"':
			text = append(text, '"')
			i++
		default:
			c.text, c.raw = string(text), s.text[begin:i]
			s.row = append(s.row, c)
			s.step(i - begin)
			s.afterQuote()
			return
		}
	}
}

// endsAt reports whether a cell may end before a byte.
func (s *scanner) endsAt(i int) bool {
	rest := strings.TrimLeft(s.text[i:min(len(s.text), i+256)], " ")
	return rest == "" || rest[0] == s.comma || rest[0] == '\n'
}

// afterQuote goes to the end of a cell whose quotes are closed; nothing may stand there.
func (s *scanner) afterQuote() {
	end := strings.IndexAny(s.text[s.pos:], string(s.comma)+"\n")
	if end < 0 {
		end = len(s.text) - s.pos
	}
	if strings.TrimSpace(s.text[s.pos:s.pos+end]) != "" {
		s.faults.add(s.at, `broken quotes: the cell ends before this; a quote within a cell in quotes is written twice ("")`)
		s.broken = true
	}
	s.step(end)
}
