package path

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

func TestLatest(t *testing.T) {
	got := Latest([]desk.PathStep{
		{Run: "draft@1", Status: "COMPLETED", TookMS: 5}, {Run: "review@1", Status: "WAITING"},
		{Run: "review@1", Status: "COMPLETED", Decision: "ana retry"}, {Run: "draft@2", Status: "COMPLETED"}, {Node: "old"}, {Node: "old"},
	})
	want := []desk.PathStep{
		{Run: "draft@1", Status: "COMPLETED", TookMS: 5}, {Run: "review@1", Status: "COMPLETED", Decision: "ana retry"},
		{Run: "draft@2", Status: "COMPLETED"}, {Node: "old"}, {Node: "old"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
