package main

import (
	"cmp"
	"runtime"
	"strings"
)

// unicodeLocale reports whether the terminal is said to show UTF-8: of the variables the first that is set counts. Windows
// has no such variables, and terminals that show it.
func unicodeLocale(getenv func(string) string) bool { return localeOf(runtime.GOOS, getenv) }

func localeOf(system string, getenv func(string) string) bool {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	if locale == "" && system == "windows" {
		return true
	}
	return strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8")
}
