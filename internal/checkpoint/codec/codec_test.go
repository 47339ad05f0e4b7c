package codec_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

func TestOps(t *testing.T) {
	ops := []checkpoint.Op{
		{Kind: checkpoint.OpSet, Channel: "a", Value: json.RawMessage(`{ "x": 1 }`)},
		{Kind: checkpoint.OpDelete, Channel: "", Value: json.RawMessage{}},
		{Kind: checkpoint.OpAppend, Channel: "@frames", Value: json.RawMessage("[\xff]")},
	}
	b := codec.EncodeOps(ops)
	got, err := codec.DecodeOps(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ops, got); diff != "" {
		t.Errorf("(-in +out):\n%s", diff)
	}
	for i := range b {
		damaged := append([]byte(nil), b...)
		damaged[i] ^= 0x40
		if _, err := codec.DecodeOps(damaged); err == nil {
			t.Errorf("a change of byte %d was not seen", i)
		}
		if _, err := codec.DecodeOps(b[:i]); err == nil {
			t.Errorf("a cut at byte %d was not seen", i)
		}
	}
}

func TestKeyframeIsTheSameForTheSameState(t *testing.T) {
	c := checkpoint.Channels{"b": []byte("1"), "a": []byte("[ ]"), "": []byte("null")}
	first := codec.EncodeKeyframe(c)
	for range 20 {
		if string(codec.EncodeKeyframe(c.Clone())) != string(first) {
			t.Fatal("two keyframes of one state differ")
		}
	}
	ops, err := codec.DecodeOps(first)
	if err != nil {
		t.Fatal(err)
	}
	got, err := checkpoint.Apply(nil, ops)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, got); diff != "" {
		t.Errorf("(-in +out):\n%s", diff)
	}
}

func TestRecordKeepsForeignJSON(t *testing.T) {
	for _, raw := range []string{`{ "a" : "<&>" }`, "\"\u2028\"", "[1,\n\t2]", `"\u00e9\/"`, "\"\xff\"", `"\ud800"`, `{"base64": "x"}`, ``} {
		in := checkpoint.Checkpoint{Outputs: []byte(raw), Interrupts: []checkpoint.Interrupt{
			{ID: "q", Payload: []byte(raw), Asked: time.Unix(1, 2).UTC(), Previous: &checkpoint.Previous{ID: "p", Content: []byte(raw)}}}}
		b, err := codec.EncodeRecord(&in)
		if err != nil {
			t.Fatal(err)
		}
		var out checkpoint.Checkpoint
		if err := codec.DecodeRecord(b, &out); err != nil {
			t.Fatal(err)
		}
		for _, got := range [][]byte{out.Outputs, out.Interrupts[0].Payload, out.Interrupts[0].Previous.Content} {
			if string(got) != raw {
				t.Errorf("%q came back as %q", raw, got)
			}
		}
		if !out.Interrupts[0].Asked.Equal(in.Interrupts[0].Asked) || out.Interrupts[0].Previous.ID != "p" {
			t.Errorf("the rest changed: %+v", out.Interrupts[0])
		}
	}
}

func TestList(t *testing.T) {
	in := []json.RawMessage{[]byte("1"), {}, []byte(`{ }`)}
	out, err := codec.DecodeList(codec.EncodeList(in))
	if err != nil || cmp.Diff(in, out) != "" {
		t.Errorf("%q (%v)", out, err)
	}
	if b := codec.EncodeList(nil); b != nil {
		t.Errorf("nothing is written as %q", b)
	}
}

// FuzzDecode feeds what no program of ours wrote.
func FuzzDecode(f *testing.F) {
	f.Add(codec.EncodeOps([]checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "a", Value: []byte("1")}}))
	f.Add(codec.EncodeList([]json.RawMessage{[]byte("1")}))
	f.Add([]byte(`{"interrupts":[{"previous":{}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if ops, err := codec.DecodeOps(b); err == nil {
			if again, err := codec.DecodeOps(codec.EncodeOps(ops)); err != nil || cmp.Diff(ops, again) != "" {
				t.Errorf("%x: %v", b, err)
			}
		}
		codec.DecodeList(b)
		codec.DecodeRecord(b, new(checkpoint.Checkpoint))
	})
}

// TestRecordIsSealed changes each byte of a record, and all that a backend keeps beside it.
func TestRecordIsSealed(t *testing.T) {
	in := checkpoint.Checkpoint{Thread: "t", Step: 3, TS: time.Unix(1, 2000), Source: checkpoint.SourceStep, Workflow: "w", Fingerprint: "f",
		Next: []string{"a"}, Shown: &checkpoint.Summary{Phase: checkpoint.Stalled, Node: "a"}}
	beside := func() *checkpoint.Checkpoint {
		return &checkpoint.Checkpoint{Thread: in.Thread, Step: in.Step, TS: in.TS, Source: in.Source, Workflow: in.Workflow, Fingerprint: in.Fingerprint}
	}
	b, err := codec.EncodeRecord(&in)
	if err != nil {
		t.Fatal(err)
	}
	out := beside()
	if err := codec.DecodeRecord(b, out); err != nil || cmp.Diff(&in, out) != "" {
		t.Fatalf("%v: %s", err, cmp.Diff(&in, out))
	}
	for i := range b {
		damaged := append([]byte(nil), b...)
		damaged[i] ^= 1
		if codec.DecodeRecord(damaged, beside()) == nil {
			t.Errorf("a change of byte %d of %s was not seen", i, b)
		}
	}
	moved := append(append([]byte(nil), b[:len(b)-1]...), `,"more":1}`...)
	if codec.DecodeRecord(moved, beside()) == nil {
		t.Errorf("something behind the checksum was not seen: %s", moved)
	}
	for name, change := range map[string]func(*checkpoint.Checkpoint){
		"thread":      func(c *checkpoint.Checkpoint) { c.Thread = "u" },
		"step":        func(c *checkpoint.Checkpoint) { c.Step++ },
		"time":        func(c *checkpoint.Checkpoint) { c.TS = c.TS.Add(time.Microsecond) },
		"source":      func(c *checkpoint.Checkpoint) { c.Source = checkpoint.SourceEdit },
		"ended":       func(c *checkpoint.Checkpoint) { c.Ended = checkpoint.Done },
		"workflow":    func(c *checkpoint.Checkpoint) { c.Workflow = "x" },
		"fingerprint": func(c *checkpoint.Checkpoint) { c.Fingerprint = "g" },
	} {
		c := beside()
		change(c)
		if codec.DecodeRecord(b, c) == nil {
			t.Errorf("another %s was not seen", name)
		}
	}
}

func TestRecordOfAnEarlierVersion(t *testing.T) {
	for _, b := range []string{`{}`, `{"next":["a"]}`, `{"outputs":"\"sum\":\"crc32c:00000000\"}"}`} {
		if err := codec.DecodeRecord([]byte(b), new(checkpoint.Checkpoint)); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
}
