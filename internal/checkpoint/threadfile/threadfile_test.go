package threadfile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/threadfile"
)

// awkward are values that do not stand well on one line of JSON, or at all.
var awkward = []string{`{ "a" :  1.0 }`, "{\n\t\"lines\": [\r\n]\n}", `{"#text":"looks like ours"}`, "no JSON", "\xff\xfe", ` "led and followed by blanks" `,
	`"<é>\u00e9&"`, strings.Repeat("[", 2000) + strings.Repeat("]", 2000), "1e-400", `{"a":1,"a":2}`}

func thread(t testing.TB) *memory.Store {
	t.Helper()
	now := time.Date(2026, 3, 1, 9, 0, 0, 123456000, time.UTC)
	s := memory.New(memory.Options{Now: func() time.Time { return now }})
	t.Cleanup(func() { s.Close() })
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d := checkpoint.Definition{Workflow: "notes", Source: "/srv/notes.yaml", Files: []checkpoint.File{{Path: "notes.yaml", Text: "a: <b>\n"}, {Path: "b", Text: "\xff"}}}
	d.Fingerprint = checkpoint.Fingerprint(d.Files)
	fail(s.PutDefinition(t.Context(), d))
	c := checkpoint.Commit{ID: "c0", Checkpoint: checkpoint.Checkpoint{Thread: "t", TS: now, Source: checkpoint.SourceInput, Workflow: "notes\xff", Fingerprint: d.Fingerprint,
		Origin: &checkpoint.Origin{Thread: "old\n", Step: 3}},
		Parent: -1, Lease: "x", NewLease: &checkpoint.LeaseRequest{Thread: "t", Token: "x", TTL: time.Hour, Answers: []json.RawMessage{[]byte(awkward[1]), []byte("2")}},
		NewThread: &checkpoint.NewThread{Workdir: "/srv/\xfe", StartedBy: "ann"}, KeepAnswers: 2, Summary: checkpoint.Summary{Phase: checkpoint.Stalled}}
	due := now.Add(time.Hour)
	for i, v := range awkward {
		raw := json.RawMessage(v)
		c.Ops = []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "c\xff", Value: raw}, {Kind: checkpoint.OpSet, Channel: "password", Value: []byte(fmt.Sprintf(`"secret %d"`, i))},
			{Kind: checkpoint.OpAppend, Channel: "log", Value: []byte(`[ {"n" : 1}]`)}}
		if i == 4 {
			c.Ops = append(c.Ops, checkpoint.Op{Kind: checkpoint.OpDelete, Channel: "password"})
		}
		c.Checkpoint.Interrupts = []checkpoint.Interrupt{{ID: "q", Key: "ok", Address: "review", Node: "review", Path: "main@1/review@1", Payload: raw, Asked: now, Due: &due,
			Overdue: true, Round: 2, Previous: &checkpoint.Previous{ID: "q0", Feedback: "\xff", By: "ann", Content: raw}}}
		c.Checkpoint.Runs = []checkpoint.NodeRun{{Path: "p", Node: "n", Status: "FAILED", Route: "r", Attempts: 2, Started: now, TookMS: 4, Error: "token=abc\n"}}
		c.Checkpoint.Error = &checkpoint.Failure{Path: "p", Node: "n", Message: "m\xff", Attempts: 1, At: now}
		c.Checkpoint.Outputs, c.Checkpoint.Next, c.Checkpoint.Decisions = raw, []string{"a", "\xff"}, []string{"d"}
		c.Decisions = []checkpoint.Decision{{ID: fmt.Sprint("d", i), ResponseID: fmt.Sprint("r", i), Reviewer: "ann", Data: raw, Comment: v, DecidedAt: now, WaitedSeconds: 0.1, Outcome: checkpoint.Applied}}
		_, err := s.Commit(t.Context(), c)
		fail(err)
		fail(s.AddResult(t.Context(), "t", "x", checkpoint.PendingResult{Step: int64(i) + 1, Path: "p\xff", Data: raw}))
		c.NewLease, c.NewThread = nil, nil
		c.ID, c.Parent, c.Checkpoint.Step = fmt.Sprint("c", i+1), c.Checkpoint.Step, c.Checkpoint.Step+1+int64(i%2)
	}
	return s
}

func export(t testing.TB, s checkpoint.Store, mask threadfile.Masker) []byte {
	t.Helper()
	b, err := s.Export(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := threadfile.Write(t.Context(), &out, b, s, mask, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestThereAndBack(t *testing.T) {
	s := thread(t)
	file := export(t, s, nil)
	if !json.Valid(file) {
		t.Errorf("it is no JSON:\n%s", file)
	}
	f, err := threadfile.Open(t.Context(), bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	other := memory.New(memory.Options{})
	defer other.Close()
	for _, d := range f.Definitions {
		if err := other.PutDefinition(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Import(t.Context(), f.Bundle(), checkpoint.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if again := export(t, other, nil); !bytes.Equal(again, file) {
		t.Errorf("it comes back as another (-want +got):\n%s", cmp.Diff(strings.Split(string(file), "\n"), strings.Split(string(again), "\n")))
	}
	for want, err := range s.History(t.Context(), "t", true) {
		if err != nil {
			t.Fatal(err)
		}
		got, err := other.Get(t.Context(), "t", want.Step)
		if err != nil {
			t.Fatal(err)
		}
		if want.Step < f.Bundle().Thread.Step {
			want.Shown = nil // a file tells it of the head alone, in the thread's row
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", want.Step, diff)
		}
	}
	if f.Steps != int64(len(awkward)) {
		t.Errorf("%d steps are told of", f.Steps)
	}
}

// TestChangesAreFound changes a file in every way that befalls one, and wants the line told.
func TestChangesAreFound(t *testing.T) {
	file := export(t, thread(t), nil)
	lines := bytes.SplitAfter(file, []byte("\n"))
	lines = lines[:len(lines)-1]
	open := func(b []byte) error {
		_, err := threadfile.Open(t.Context(), bytes.NewReader(b))
		return err
	}
	if err := open(file); err != nil {
		t.Fatal(err)
	}
	whole := func(l [][]byte) []byte { return bytes.Join(l, nil) }
	told := func(what string, n int, b []byte) {
		t.Helper()
		var f *threadfile.Fault
		err := open(b)
		if !errors.As(err, &f) || !errors.Is(err, checkpoint.ErrCorrupt) {
			t.Errorf("%s: error %v", what, err)
		} else if f.Line != n {
			t.Errorf("%s: it tells line %d (%v)", what, f.Line, err)
		}
	}
	for i := range lines {
		told(fmt.Sprint("cut after line ", i), i+1, whole(lines[:i]))
		if i+1 < len(lines) && bytes.Contains(lines[i], []byte(`"sum"`)) {
			without := append(append([][]byte{}, lines[:i]...), lines[i+1:]...)
			if err := open(whole(without)); err == nil {
				t.Errorf("line %d can be removed", i+1)
			}
			twice := append(append([][]byte{}, lines[:i+1]...), lines[i:]...)
			told(fmt.Sprint("twice line ", i+1), i+2, whole(twice))
			for at := 0; at < len(lines[i])-1; at += 1 + len(lines[i])/40 {
				changed := bytes.Clone(whole(lines))
				changed[len(whole(lines[:i]))+at] ^= 1
				told(fmt.Sprintf("line %d, byte %d", i+1, at), i+1, changed)
			}
		}
	}
	told("something behind it", len(lines)+1, append(bytes.Clone(file), '\n'))
	var anew bytes.Buffer
	if err := json.Indent(&anew, file, "", "  "); err != nil {
		t.Fatal(err)
	}
	told("written anew", 1, anew.Bytes())
	told("nothing", 1, nil)
	told("something else", 1, []byte("{\"a\":1}\n"))
}

// forge writes the sums of a file anew.
func forge(file string) []byte {
	sum := uint32(0)
	sums := regexp.MustCompile(`,"sum":"crc32c:[0-9a-f]{8}"\}`)
	lines := strings.SplitAfter(file, "\n")
	for i, l := range lines {
		place := sums.FindStringIndex(l)
		if place == nil {
			continue
		}
		body := l[strings.Index(l, "{"):place[0]]
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), []byte(body))
		lines[i] = l[:place[0]] + fmt.Sprintf(`,"sum":"crc32c:%08x"}`, sum) + l[place[1]:]
	}
	return []byte(strings.Join(lines, ""))
}

// TestForgeriesAreFound forges the sums too.
func TestForgeriesAreFound(t *testing.T) {
	file := string(export(t, thread(t), nil))
	if string(forge(file)) != file {
		t.Fatal("the forger writes other sums")
	}
	row := regexp.MustCompile(`(?m)^\{"n":3,"id":"d2".*\n`).FindString(file)
	for name, c := range map[string]struct{ old, with, want string }{
		"a decision changed":          {row, strings.Replace(row, `"reviewer":"ann"`, `"reviewer":"eve"`, 1), "row 3 (d2)"},
		"a decision removed":          {row, "", "row 3 (d3)"},
		"a decision counted away":     {`"decisions":10,`, `"decisions":9,`, "it was added"},
		"another end":                 {`"decision_hash":"`, `"decision_hash":"0`, "last row"},
		"a definition changed":        {`a: <b>`, `a: <c>`, "fingerprint"},
		"a step counted away":         {`"end":{"steps":10`, `"end":{"steps":9`, "counts 9 steps"},
		"another head":                {`"step":13,"revision":1,"created"`, `"step":12,"revision":1,"created"`, "head"},
		"an operation nobody knows":   {`"op":"append"`, `"op":"prepend"`, "prepend"},
		"a phase nobody knows":        {`"phase":"stalled"`, `"phase":"running"`, "phase"},
		"no thread":                   {`{"thread_id":"t"`, `{"thread_id":""`, "without a thread"},
		"a redacted file":             {`"redacted":false`, `"redacted":true`, "without --redact"},
		"a newer file":                {`"version":1`, `"version":2`, "newer program"},
		"another format":              {`"format":"hitl-tui thread"`, `"format":"x"`, "no exported thread"},
		"a field of another type":     {`"step":13,"revision":1,"created"`, `"step":"x","revision":1,"created"`, "line 2"},
		"a list under another name":   {`"answers":[`, `"replies":[`, "answers"},
		"an append that is no list":   {`"op":"append","channel":"log","value":[`, `"op":"append","channel":"log","value":1,"x":[`, "step"},
		"steps in another order":      {`{"step":1,`, `{"step":0,`, "step 0"},
		"a step without its revision": {`{"step":1,"revision":1`, `{"step":1,"revision":0`, "revision"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(file, c.old) {
				t.Fatalf("the file has no %s", c.old)
			}
			_, err := threadfile.Open(t.Context(), bytes.NewReader(forge(strings.Replace(file, c.old, c.with, 1))))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// masker masks what its tests call secret.
type masker struct{}

func (masker) Text(s string) string { return strings.ReplaceAll(s, "abc", "***") }
func (masker) Field(key string, raw json.RawMessage) json.RawMessage {
	if key == "password" {
		return json.RawMessage(`"***"`)
	}
	return raw
}
func (masker) JSON(raw json.RawMessage) json.RawMessage { return raw }

func TestRedacted(t *testing.T) {
	file := export(t, thread(t), masker{})
	if bytes.Contains(file, []byte("secret ")) || bytes.Contains(file, []byte("abc")) || !json.Valid(file) {
		t.Errorf("what is secret is in\n%s", file)
	}
	if _, err := threadfile.Open(t.Context(), bytes.NewReader(file)); !errors.Is(err, threadfile.ErrRedacted) {
		t.Errorf("error %v", err)
	}
}

// FuzzOpen wants an error or a thread of every file, also where the sums are right.
func FuzzOpen(f *testing.F) {
	file := export(f, thread(f), nil)
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, file := range [][]byte{b, forge(string(b))} {
			opened, err := threadfile.Open(t.Context(), bytes.NewReader(file))
			if err != nil {
				continue
			}
			s := memory.New(memory.Options{})
			if err := s.Import(t.Context(), opened.Bundle(), checkpoint.ImportOptions{}); err != nil {
				t.Errorf("what was found whole is not taken in: %v", err)
			}
			s.Close()
		}
	})
}

// TestEarlierVersions reads what the earliest version wrote, and writes the same.
func TestEarlierVersions(t *testing.T) {
	for name, file := range checkpointtest.EarlierExports(t) {
		f, err := threadfile.Open(t.Context(), bytes.NewReader(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := memory.New(memory.Options{})
		defer s.Close()
		for _, d := range f.Definitions {
			if err := s.PutDefinition(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Import(t.Context(), f.Bundle(), checkpoint.ImportOptions{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, err := s.Export(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := threadfile.Write(t.Context(), &again, b, s, nil, nil); err != nil || !bytes.Equal(again.Bytes(), file) {
			t.Errorf("%s comes back as another (%v)", name, err)
		}
	}
}
