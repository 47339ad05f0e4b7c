package main

import "testing"

func TestUnicodeLocale(t *testing.T) {
	for _, c := range []struct {
		system, all, ctype, lang string
		want                     bool
	}{
		{"linux", "", "", "", false},
		{"linux", "", "", "C.UTF-8", true},
		{"linux", "", "", "de_DE.utf8", true},
		{"linux", "C", "", "en_US.UTF-8", false},
		{"linux", "", "POSIX", "en_US.UTF-8", false},
		{"linux", "en_US.UTF-8", "C", "C", true},
		{"windows", "", "", "", true},
		{"windows", "", "", "C", false},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		if got := localeOf(c.system, func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%s, LC_ALL=%q LC_CTYPE=%q LANG=%q: %v", c.system, c.all, c.ctype, c.lang, got)
		}
	}
}
