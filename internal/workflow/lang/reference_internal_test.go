package lang

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr/builtin"
	"github.com/google/go-cmp/cmp"
)

// TestEveryFunctionIsTold: the reference has every function there is and no other, and each form of it loads.
func TestEveryFunctionIsTold(t *testing.T) {
	told := namesOf(TemplateFunctions())
	has := append(slices.Collect(maps.Keys(templateFunctions(Names{}))), controlFunctions...)
	if diff := cmp.Diff(slices.Sorted(slices.Values(has)), slices.Sorted(slices.Values(told))); diff != "" {
		t.Errorf("functions of templates (-there +told)\n%s", diff)
	}
	told = namesOf(ExpressionFunctions())
	has = slices.DeleteFunc(slices.Clone(builtin.Names), func(name string) bool { return strings.HasPrefix(name, "bit") && name != "bitand" })
	if diff := cmp.Diff(slices.Sorted(slices.Values(has)), slices.Sorted(slices.Values(told))); diff != "" {
		t.Errorf("functions of expressions (-there +told)\n%s", diff)
	}
	names := Names{
		Keys: []string{"a", "b", "x", "at", "names", "rows", "text", "amount", "numbers", "lists", "object", "pairs"}, Env: true,
		Answers: map[string][]string{"review": nil}, Errors: []string{"verify"},
	}
	for _, w := range TemplateFunctions() {
		if _, faults := ParseTemplate("{{"+w.Form+"}}", names); len(faults) > 0 || !strings.HasPrefix(w.Form, w.Name) {
			t.Errorf("%s: %v", w.Form, faults)
		}
	}
	for _, w := range slices.Concat(ExpressionFunctions(), AnswerFields(), ErrorFields(), RunFields()) {
		if _, faults := ParseExpr(w.Form, names); len(faults) > 0 || !strings.Contains(w.Form, w.Name) {
			t.Errorf("%s: %v", w.Form, faults)
		}
	}
}
