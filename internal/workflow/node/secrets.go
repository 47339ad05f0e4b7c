package node

import (
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Secrets is what templates took from the environment: it is remembered, so that it can be kept out of what is told of a
// failure. It is safe for concurrent use; a nil one hides nothing.
type Secrets struct {
	Getenv func(name string) (string, bool)

	mu   sync.Mutex
	seen []string // longest first, so that no part of one stands in the place of another
}

// Lookup is the value of a variable, which is a secret from now on.
func (s *Secrets) Lookup(name string) (string, bool) {
	value, ok := s.Getenv(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, form := range forms(strings.TrimSpace(value)) {
		if form != "" && !slices.Contains(s.seen, form) {
			s.seen = append(s.seen, form)
			slices.SortStableFunc(s.seen, func(a, b string) int { return len(b) - len(a) })
		}
	}
	return value, ok
}

// forms are those in which a secret without space around it is sent, and so may come back: in a header as it is, in an
// address escaped.
func forms(secret string) []string {
	return []string{secret, (&url.URL{Path: secret}).EscapedPath(), url.PathEscape(secret), url.QueryEscape(secret)}
}

// Hide puts a mark in the place of every secret in a text.
func (s *Secrets) Hide(text string) string {
	if s == nil {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.seen {
		text = strings.ReplaceAll(text, secret, "[env]")
	}
	return text
}
