package main

import "testing"

func TestUnicodeLocale(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{
		{"", "", "", true}, // containers and services have none
		{"", "", "C.UTF-8", true},
		{"", "", "de_DE.utf8", true},
		{"C", "", "en_US.UTF-8", false},
		{"", "POSIX", "en_US.UTF-8", false},
		{"en_US.UTF-8", "C", "C", true},
		{"", "", "C", false},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		if got := unicodeLocale(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("LC_ALL=%q LC_CTYPE=%q LANG=%q: %v", c.all, c.ctype, c.lang, got)
		}
	}
}
