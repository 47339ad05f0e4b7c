package node

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
)

// sheet is a CSV file: its columns, and its rows as texts by column.
type sheet struct {
	columns []string
	rows    []map[string]any
}

func (s *store) sheet() (t sheet, exists bool, err error) {
	text, exists, err := s.existing()
	if err != nil || !exists {
		return t, exists, err
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		return t, true, fmt.Errorf("%s: %w", s.file, err)
	}
	if len(records) == 0 {
		return t, true, nil
	}
	t.columns = records[0]
	for i, record := range records[1:] {
		if len(record) > len(t.columns) {
			return t, true, fmt.Errorf("%s: row %d has more cells than the header", s.file, i+2)
		}
		row := map[string]any{}
		for j, name := range t.columns {
			if row[name] = ""; j < len(record) {
				row[name] = record[j]
			}
		}
		t.rows = append(t.rows, row)
	}
	return t, true, nil
}

// save writes the sheet back.
func (s *store) save(t sheet) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(t.columns); err != nil {
		return err
	}
	for _, row := range t.rows {
		record := make([]string, len(t.columns))
		for i, name := range t.columns {
			record[i] = shown(row[name])
		}
		if err := w.Write(record); err != nil {
			return err
		}
	}
	if w.Flush(); w.Error() != nil {
		return w.Error()
	}
	return s.write(b.Bytes())
}

// readCSV gives the rows as objects; with an id the one row, or null; with format dict an object by id.
func readCSV(s *store) (any, error) {
	t, exists, err := s.sheet()
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, fmt.Errorf("%s: there is no such file", s.file)
	}
	field := s.idField()
	if id := s.id(); id != "" {
		for _, row := range t.rows {
			if shown(row[field]) == id {
				return row, nil
			}
		}
		return nil, nil
	}
	rows, err := filtered(t.rows, s.given("query"))
	if err != nil {
		return nil, err
	}
	format := s.text("format", "records")
	if v := s.given("format"); v != nil {
		format = shown(v)
	}
	switch format {
	case "records", "default":
		list := make([]any, len(rows))
		for i, row := range rows {
			list[i] = row
		}
		return list, nil
	case "dict":
		byID := map[string]any{}
		for i, row := range rows {
			id := shown(row[field])
			if id == "" {
				id = strconv.Itoa(i)
			}
			byID[id] = row
		}
		return byID, nil
	}
	return nil, fmt.Errorf("unknown format %q; known are records and dict", format)
}

// filtered are the rows that a query keeps: {FIELD: value, ...}, with limit, offset, sort and order.
func filtered(rows []map[string]any, query any) ([]map[string]any, error) {
	if query == nil {
		return rows, nil
	}
	wanted, ok := query.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the query must be an object of fields and values, not %s", shown(query))
	}
	var kept []map[string]any
	for _, row := range rows {
		if matches(row, wanted) {
			kept = append(kept, row)
		}
	}
	if by, ok := wanted["sort"].(string); ok {
		sort.SliceStable(kept, func(i, j int) bool {
			if wanted["order"] == "desc" {
				i, j = j, i
			}
			return before(shown(kept[i][by]), shown(kept[j][by]))
		})
	}
	from, to := number(wanted["offset"], 0), len(kept)
	from = min(max(from, 0), len(kept))
	if limit := number(wanted["limit"], -1); limit >= 0 {
		to = min(from+limit, len(kept))
	}
	return kept[from:to], nil
}

func matches(row, wanted map[string]any) bool {
	for field, value := range wanted {
		if slices.Contains([]string{"sort", "order", "limit", "offset"}, field) {
			continue
		}
		list, isList := value.([]any)
		if !isList {
			list = []any{value}
		}
		if !slices.ContainsFunc(list, func(v any) bool { return shown(v) == shown(row[field]) }) {
			return false
		}
	}
	return true
}

// before orders texts, numbers among them by their value.
func before(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return x < y
	}
	return a < b
}

func number(v any, otherwise int) int {
	switch v := v.(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return otherwise
}

// writeCSV writes the input data, a row or a list of rows, or all inputs as one row.
func writeCSV(s *store) (any, error) {
	m, err := s.mode()
	if err != nil {
		return nil, err
	}
	t, exists, err := s.sheet()
	if err != nil {
		return nil, err
	}
	if m == modeDelete {
		return s.deleteRow(t, exists)
	}
	columns, rows, err := s.rows()
	if err != nil {
		return nil, err
	}
	before := len(t.rows)
	if m == modeWrite {
		t, before = sheet{}, 0
	}
	for _, name := range columns {
		if !slices.Contains(t.columns, name) {
			t.columns = append(t.columns, name)
		}
	}
	told := map[string]any{"created_new": !exists}
	if m == modeUpdate {
		told["rows_updated"] = s.update(&t, rows)
		told["rows_added"] = len(t.rows) - before
	} else {
		t.rows = append(t.rows, rows...)
		told["rows_written"] = len(rows)
	}
	return s.record(m, told), s.save(t)
}

// rows are what is to be written, and the columns that they name.
func (s *store) rows() (columns []string, rows []map[string]any, err error) {
	data, given := s.in["data"]
	if !given {
		row := map[string]any{}
		for _, name := range s.order {
			if !isControl(name) {
				row[name] = s.in[name]
				columns = append(columns, name)
			}
		}
		if len(row) == 0 {
			return nil, nil, errors.New("no data to write: give an input with the name data, or one for each column")
		}
		return columns, []map[string]any{row}, nil
	}
	list, isList := data.([]any)
	if !isList {
		list = []any{data}
	}
	for i, item := range list {
		row, ok := item.(map[string]any)
		if !ok {
			return nil, nil, fmt.Errorf("data, row %d: an object of columns is due, not %s", i+1, shown(item))
		}
		rows = append(rows, row)
		var names []string
		for name := range row {
			if !slices.Contains(columns, name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		columns = append(columns, names...)
	}
	return columns, rows, nil
}

// update writes rows over those of the same id, adds the others, and says how many it wrote over.
func (s *store) update(t *sheet, rows []map[string]any) (updated int) {
	field, only := s.idField(), s.id()
	for _, row := range rows {
		id := shown(row[field])
		if id == "" && only != "" {
			id = only
		}
		at := slices.IndexFunc(t.rows, func(x map[string]any) bool { return id != "" && shown(x[field]) == id })
		if at < 0 {
			t.rows = append(t.rows, maps.Clone(row))
			continue
		}
		for name, value := range row {
			t.rows[at][name] = value
		}
		updated++
	}
	return updated
}

func (s *store) deleteRow(t sheet, exists bool) (any, error) {
	id, field := s.id(), s.idField()
	if id == "" {
		return s.remove()
	}
	kept := slices.DeleteFunc(slices.Clone(t.rows), func(row map[string]any) bool { return shown(row[field]) == id })
	if !exists || len(kept) == len(t.rows) {
		return nil, fmt.Errorf("%s: no row has the %s %q", s.file, field, id)
	}
	gone := len(t.rows) - len(kept)
	t.rows = kept
	return s.record(modeDelete, map[string]any{"rows_deleted": gone}), s.save(t)
}
