package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"unicode"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// scope is what a request may do.
type scope int

const (
	nothing scope = iota
	read          // with secrets masked
	write         // and read whole
)

func (s scope) String() string { return [...]string{"none", "read", "write"}[s] }

// guard tells who a request is from.
type guard struct {
	sums     [2][sha256.Size]byte // of the tokens of read and write
	has      [2]bool
	loopback bool // the server can be reached from this host only
}

func newGuard(writeToken, readToken string) (guard, error) {
	if writeToken != "" && writeToken == readToken {
		return guard{}, &desk.Error{Code: desk.CodeUsage, Message: "the token for reading is the one for writing", Remedy: "give two different tokens"}
	}
	var g guard
	for i, token := range []string{readToken, writeToken} {
		if strings.ContainsFunc(token, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' }) {
			return guard{}, &desk.Error{Code: desk.CodeUsage, Message: "a token holds a space, a control character or one beyond ASCII", Remedy: "make one with `openssl rand -hex 32`"}
		}
		g.sums[i], g.has[i] = sha256.Sum256([]byte(token)), token != ""
	}
	return g, nil
}

var errToken = errors.New("give one token: Authorization: Bearer TOKEN")

// scopeOf tells what a request may do, and whether it brought a token for that; with keys also where AgentMap's clients put
// theirs. The error says what is wrong with the token.
func (g *guard) scopeOf(r *http.Request, keys bool) (may scope, given bool, err error) {
	token, given, err := bearer(r, keys)
	if err != nil {
		return nothing, given, err
	}
	if !given {
		if g.loopback && isLocal(r) {
			return read, false, nil
		}
		return nothing, false, nil
	}
	// Both are compared, whatever the first says: how long it takes tells nothing.
	sum := sha256.Sum256([]byte(token))
	reads := subtle.ConstantTimeCompare(sum[:], g.sums[0][:]) == 1 && g.has[0]
	writes := subtle.ConstantTimeCompare(sum[:], g.sums[1][:]) == 1 && g.has[1]
	switch {
	case writes:
		return write, true, nil
	case reads:
		return read, true, nil
	default:
		return nothing, true, errors.New("the token is not known here")
	}
}

// bearer is the token of a request.
func bearer(r *http.Request, keys bool) (token string, given bool, err error) {
	all := r.Header.Values("Authorization")
	key := r.Header.Values("X-Api-Key")
	switch {
	case len(all) == 0 && keys && len(key) == 1:
		return key[0], true, nil
	case len(all) == 0:
		return "", false, nil
	case len(all) > 1:
		return "", true, errToken
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", true, errToken
	}
	return strings.TrimSpace(token), true, nil
}

// isLocal reports whether a request was made on this host to this host: not by way of a proxy, and not by a web page whose
// name was made to lead here.
func isLocal(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

func isLoopback(a net.Addr) bool {
	tcp, is := a.(*net.TCPAddr)
	return is && tcp.IP.IsLoopback()
}
