package local

import "testing"

func TestStoresAreNamedByFileOrDatabase(t *testing.T) {
	for url, want := range map[string]string{
		"sqlite:/home/ana/desk.db": "desk.db", "sqlite:/home/ana/why?.db": "why?.db", "memory:": "memory",
		"postgres://ana@db.example/desk":                 "desk",
		"postgres://ana@db.example/desk?search_path=a/b": "desk",
	} {
		if got := baseName(url); got != want {
			t.Errorf("%s is named %q, want %q", url, got, want)
		}
	}
}
