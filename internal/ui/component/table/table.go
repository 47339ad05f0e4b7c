// Package table shows a list of records as rows and columns.
package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Records is a list of JSON objects as rows of cells, every cell safe and on one line.
type Records struct {
	Columns []string
	Rows    [][]string
}

// Parse reads a JSON list of flat objects. false: it is something else, and jsontree shows it better.
func Parse(raw json.RawMessage) (*Records, bool) { return parse(raw, math.MaxInt) }

// parse reads no more than so many records.
func parse(raw json.RawMessage, most int) (*Records, bool) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '[' {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	r := &Records{}
	index := map[string]int{}
	for dec.More() {
		if len(r.Rows) == most {
			return r, len(r.Columns) > 0
		}
		row, ok := r.readRow(dec, index)
		if !ok {
			return nil, false
		}
		r.Rows = append(r.Rows, row)
	}
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	return r, len(r.Rows) > 0 && len(r.Columns) > 0
}

func (r *Records) readRow(dec *json.Decoder, index map[string]int) ([]string, bool) {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	row := make([]string, len(r.Columns))
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, false
		}
		text, flat := cellText(v)
		if !flat {
			return nil, false
		}
		name := key.(string)
		i, ok := index[name]
		if !ok {
			i = len(r.Columns)
			index[name] = i
			r.Columns = append(r.Columns, sanitize.Line(name))
		}
		for len(row) <= i {
			row = append(row, "")
		}
		row[i] = text
	}
	_, err := dec.Token()
	return row, err == nil
}

func cellText(v json.RawMessage) (text string, flat bool) {
	switch v[0] {
	case '{', '[':
		return "", false
	case '"':
		var s string
		if json.Unmarshal(v, &s) != nil {
			return "", false
		}
		return sanitize.Line(s), true
	}
	return sanitize.Line(string(v)), true
}

// sample is how many rows are measured for the widths of columns, and judged to tell whether a list is a table.
const sample = 200

// widths shares w cells among the columns: what they need, the widest giving way first; columns for which less than
// minWidth would be left are not shown.
func (r *Records) widths(w int) []int {
	const minWidth, gap = 4, 2
	need := make([]int, len(r.Columns))
	for i, c := range r.Columns {
		need[i] = max(cell.Width(c), 1)
	}
	for _, row := range r.Rows[:min(len(r.Rows), sample)] {
		for i, text := range row {
			need[i] = max(need[i], cell.Width(text))
		}
	}
	for len(need) > 1 && len(need)*(minWidth+gap)-gap > w {
		need = need[:len(need)-1]
	}
	for {
		sum, widest := -gap, 0
		for i, n := range need {
			sum += n + gap
			if n > need[widest] {
				widest = i
			}
		}
		if sum <= w || need[widest] <= 1 {
			return need
		}
		need[widest] -= min(sum-w, max(need[widest]/8, 1))
	}
}

// source draws rows lazily.
type source struct {
	r      *Records
	widths []int
}

func (s source) Len() int          { return len(s.r.Rows) }
func (s source) Line(i int) string { return s.draw(s.r.Rows[i]) }
func (s source) Plain(i int) string {
	return strings.Join(s.r.Rows[i], "  ")
}

func (s source) draw(row []string) string {
	parts := make([]string, len(s.widths))
	for i, w := range s.widths {
		text := ""
		if i < len(row) {
			text = row[i]
		}
		if isNumber(text) {
			parts[i] = cell.Right(text, w)
		} else {
			parts[i] = cell.Fit(text, w)
		}
	}
	return strings.Join(parts, "  ")
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.-+eE") == "" && strings.ContainsAny(s, "0123456789")
}

// Lines draws the whole table at a width, heading first, as a Source to stand among other content.
func Lines(th *theme.Theme, r *Records, w int) pager.Source {
	s := source{r, r.widths(w)}
	head := pager.Lines{th.Strong.Render(s.draw(r.Columns))}
	if hidden := len(r.Columns) - len(s.widths); hidden > 0 {
		head = append(pager.Lines{th.Warning.Render(fmt.Sprintf("%d of %d columns have no room: %s", hidden, len(r.Columns), strings.Join(r.Columns[len(s.widths):], ", ")))}, head...)
	}
	return pager.Join(head, s)
}

// ReadsAsTable tells whether a JSON value is a list of records that reads better as a table than as a tree: two or more flat
// objects, most of whose keys they share. Of a long list the first records are judged; whether all are flat, Parse tells.
func ReadsAsTable(raw json.RawMessage) bool {
	r, ok := parse(raw, sample)
	if !ok || len(r.Rows) < 2 {
		return false
	}
	filled := 0
	for _, row := range r.Rows {
		for _, text := range row {
			if text != "" {
				filled++
			}
		}
	}
	return 2*filled > len(r.Rows)*len(r.Columns)
}

// View is a scrolling table whose heading stays.
type View struct {
	*pager.Pager
	theme   *theme.Theme
	records *Records
	w, h    int
}

// New makes an empty view.
func New(th *theme.Theme) *View {
	v := &View{Pager: pager.New(th), theme: th, records: &Records{}}
	v.SetWrap(false)
	return v
}

// SetRecords shows records from the first.
func (v *View) SetRecords(r *Records) {
	v.records = r
	v.SetSource(source{r, r.widths(max(v.w, 1))})
}

// SetTheme changes the styles.
func (v *View) SetTheme(th *theme.Theme) { v.theme = th; v.Pager.SetTheme(th) }

// SetSize sets the box.
func (v *View) SetSize(w, h int) {
	v.w, v.h = max(w, 0), max(h, 0)
	v.Pager.SetSize(v.w, max(v.h-1, 0))
	v.Replace(source{v.records, v.records.widths(max(v.w, 1))})
}

// View is the box: heading and rows.
func (v *View) View() string {
	if v.w == 0 || v.h == 0 {
		return ""
	}
	s := source{v.records, v.records.widths(v.w)}
	head := s.draw(v.records.Columns)
	if hidden := len(v.records.Columns) - len(s.widths); hidden > 0 {
		head = cell.Between(head, fmt.Sprintf("+%d columns", hidden), v.w)
	}
	out := v.theme.Strong.Render(cell.Fit(head, v.w))
	if v.h > 1 {
		out += "\n" + v.Pager.View()
	}
	return out
}
