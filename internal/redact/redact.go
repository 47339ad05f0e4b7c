// Package redact masks secrets in JSON and text before they are shown, logged or exported. It finds them by the name
// of the key they stand under, by the form of known kinds of credentials and by patterns of one's own.
//
// It never alters what it is given, and it is no proof of absence: a secret under a harmless name and without a known
// form is not found.
package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Mask stands in the place of a secret. It tells nothing of the secret, not even its length.
const Mask = "[redacted]"

// Rules say what is a secret. The zero value is the rules that need no configuration.
type Rules struct {
	keys     [][]string // by their words
	except   []string   // by their words, joined
	patterns []*regexp.Regexp
	off      bool
}

// Options are what a user adds to the rules, and takes from them.
type Options struct {
	Keys     []string         // names of further secrets: iban is also customer_iban and ownerIBAN
	Except   []string         // whole keys that are none, in any spelling: pin is not card_pin
	Patterns []*regexp.Regexp // what else is masked wherever it stands in a text or is a number
}

// New makes rules of options. A name without a letter or digit and a pattern that matches nothing at all are errors.
func New(o Options) (Rules, error) {
	var r Rules
	for _, name := range o.Keys {
		if err := CheckKey(name); err != nil {
			return Rules{}, err
		}
		r.keys = append(r.keys, split(name))
	}
	for _, name := range o.Except {
		if err := CheckKey(name); err != nil {
			return Rules{}, err
		}
		r.except = append(r.except, strings.Join(split(name), "_"))
	}
	for _, p := range o.Patterns {
		if p.MatchString("") {
			return Rules{}, fmt.Errorf("the pattern %q matches the empty text: it would mask everything", p)
		}
		r.patterns = append(r.patterns, p)
	}
	return r, nil
}

// Off masks nothing.
func Off() Rules { return Rules{off: true} }

// IsOff reports whether nothing is masked.
func (r Rules) IsOff() bool { return r.off }

// CheckKey refuses a name of a key that could never be one.
func CheckKey(name string) error {
	if len(split(name)) == 0 {
		return fmt.Errorf("%q is no name of a key: give letters or digits", name)
	}
	return nil
}

// Pattern reads a pattern in the syntax of Go's regular expressions (RE2).
func Pattern(text string) (*regexp.Regexp, error) {
	p, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	if _, err := New(Options{Patterns: []*regexp.Regexp{p}}); err != nil {
		return nil, err
	}
	return p, nil
}

// Secret says whether a value under this key is to be masked. Keys are compared by whole words, in any of the usual
// spellings: api_key, apiKey, API-KEY and x-api-key are one, while author is not auth and tokens_used is no token.
// Names of a count or of a description of a secret (token_count, password_policy) are none.
func (r Rules) Secret(key string) bool {
	return !r.off && r.secret(split(key))
}

func (r Rules) secret(words []string) bool {
	if len(words) == 0 || len(r.except) > 0 && slices.Contains(r.except, strings.Join(words, "_")) {
		return false
	}
	for _, name := range r.keys {
		if len(words) >= len(name) && slices.Equal(words[len(words)-len(name):], name) {
			return true
		}
	}
	last := words[len(words)-1]
	switch last {
	case "authorization", "auth", "password", "passwd", "passphrase", "pwd", "pass", "secret", "secrets", "token", "credential",
		"credentials", "cookie", "cookies", "jwt", "pin", "otp", "cvv", "cvc", "apikey", "accesskey", "secretkey", "privatekey",
		"authtoken", "accesstoken", "refreshtoken", "clientsecret", "passcode", "signature", "dsn":
		return true
	case "key", "keys":
		return len(words) > 1 && qualifies(words[len(words)-2])
	case "id":
		return len(words) > 1 && words[len(words)-2] == "session"
	case "value", "header", "string", "hash", "base64", "b64":
		return len(words) > 1 && r.secret(words[:len(words)-1])
	case "tokens":
		// a number of tokens is what models report; only these are lists of secrets
		return len(words) > 1 && (words[0] == "access" || words[0] == "refresh" || words[0] == "auth" || words[0] == "api")
	}
	return false
}

// qualifies says whether a key of this sort is a secret: an api key is, a primary key is not.
func qualifies(word string) bool {
	switch word {
	case "api", "access", "secret", "private", "signing", "encryption", "ssh", "gpg", "pgp", "master", "auth", "account", "storage", "license", "session":
		return true
	}
	return false
}

// split takes a key apart into lower case words, at everything that is no letter or digit and where camel case
// begins a word.
func split(key string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(key)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if unicode.IsUpper(r) && len(word) > 0 {
			afterLower := !unicode.IsUpper(runes[i-1])
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if afterLower || beforeLower {
				end()
			}
		}
		word = append(word, r)
	}
	end()
	return words
}
