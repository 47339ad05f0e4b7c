package main

import (
	"cmp"
	"strings"
)

// unicodeLocale reports whether the terminal is taken to show UTF-8: unless a locale says otherwise, of whose variables the
// first that is set counts. Containers, services and Windows set none, and the terminals in front of them show it.
func unicodeLocale(getenv func(string) string) bool {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	return locale == "" || strings.Contains(strings.ToUpper(strings.ReplaceAll(locale, "-", "")), "UTF8")
}
