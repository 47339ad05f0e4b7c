// Package storeurl reads the URLs of stores that are kept by servers. It knows no server. Its errors never repeat a URL, nor a
// value in one: what looks like anything may be a password.
package storeurl

import (
	"errors"
	"net/url"
	"strings"
)

// Parse reads a URL; form is how one is to be written.
func Parse(text, form string) (*url.URL, error) {
	scheme, rest, _ := strings.Cut(text, ":")
	if !strings.HasPrefix(rest, "//") {
		return nil, errors.New("two slashes follow " + scheme + ": in the URL of a server; write " + form)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New(fault(err) + "; write " + form)
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return nil, errors.New("it has a # that ends it; write %23 for one in a user or password")
	}
	return u, nil
}

// fault is what is wrong with a URL, in words that quote nothing of it.
func fault(err error) string {
	var escape url.EscapeError
	var host url.InvalidHostError
	var whole *url.Error
	switch {
	case errors.As(err, &escape):
		return "it has a % that no two hexadecimal digits follow: a special character is written as % and its two digits, the % itself as %25"
	case errors.As(err, &host):
		return "it has a character that no name of a host has: a special character in a user or password is written as % and its two hexadecimal digits"
	case errors.As(err, &whole) && strings.HasPrefix(whole.Err.Error(), "invalid port"):
		return "what follows the colon after the host is no number of a port: a colon, slash, ? or # in a user or password is written as %3A, %2F, %3F or %23"
	default:
		return "it cannot be read as a URL: a special character in a user or password is written as % and its two hexadecimal digits"
	}
}
