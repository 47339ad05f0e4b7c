//go:build unix

package local_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// asChild names the folder in which this test binary is to be the desk that gets killed.
const asChild = "DESK_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asChild); dir != "" {
		if err := decideAndHang(dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// decideAndHang answers a question at a desk with a long grace time, says so and waits to be killed.
func decideAndHang(dir string) error {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, filepath.Join(dir, "desk.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	d, err := desk.New(local.New(store, engine.Options{}), desk.Options{StateDir: filepath.Join(dir, "state"), Reviewer: "ana", Grace: time.Hour})
	if err != nil {
		return err
	}
	r, err := d.Start(ctx, desk.StartRequest{File: filepath.Join(dir, "note.yaml"), Workdir: dir}, false)
	if err != nil {
		return err
	}
	if _, err := d.Respond(ctx, decision(r.Questions[0], "reject", `"too short"`), &desk.Draft{Text: "too short"}); err != nil {
		return err
	}
	fmt.Println(r.Thread)
	select {}
}

func TestKilledDeskLeavesADraftAndSendsNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.yaml"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), asChild+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	thread := lines.Text()
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed

	b := &bench{t: t, dir: dir}
	b.open(desk.Options{})
	d := b.detail(thread)
	if d.Status != "interrupted" || len(d.Questions) != 1 {
		t.Fatalf("the thread is %s with %d questions", d.Status, len(d.Questions))
	}
	draft := b.desk.Draft(d.Questions[0])
	if draft == nil || draft.Text != "too short" || draft.Action != "reject" || !draft.NotSent {
		t.Errorf("draft %+v, want the text, not sent", draft)
	}
	rows, err := b.desk.Decisions(t.Context(), thread, 0)
	if err != nil || len(rows) != 0 || len(b.desk.Outbox()) != 0 {
		t.Errorf("decisions %v, outbox %v, %v; want none", rows, b.desk.Outbox(), err)
	}
}
