// Package redact masks secrets in JSON and text before they are logged, exported or shown. It finds them by the name
// of the key they stand under and by the form of known kinds of credentials.
//
// It never alters what it is given, and it is no proof of absence: a secret under a harmless name and without a known
// form is not found.
package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"
)

// Mask stands in the place of a secret. It tells nothing of the secret, not even its length.
const Mask = "[redacted]"

// Secret says whether a value under this key is to be masked. Keys are compared by whole words, in any of the usual
// spellings: api_key, apiKey, API-KEY and x-api-key are one, while author is not auth and tokens_used is no token.
// Names of a count or of a description of a secret (token_count, password_policy) are none.
func Secret(key string) bool {
	words := split(key)
	if len(words) == 0 {
		return false
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
		return len(words) > 1 && Secret(strings.Join(words[:len(words)-1], "_"))
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

// forms is what credentials look like wherever they stand. Each is long or marked enough not to hit prose.
var forms = regexp.MustCompile(strings.Join([]string{
	`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
	`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,          // JSON web token
	`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,                                      // AWS
	`\bgh[pousr]_[A-Za-z0-9]{30,}\b`, `\bgithub_pat_[A-Za-z0-9_]{30,}\b`, // GitHub
	`\bglpat-[A-Za-z0-9_-]{20,}`,                                          // GitLab
	`\bsk-[A-Za-z0-9_-]{20,}`, `\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b`, // model providers, Stripe
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, // Slack
	`\bAIza[A-Za-z0-9_-]{35}`,          // Google
	`\bnpm_[A-Za-z0-9]{30,}\b`,         // npm
}, "|"))

// afterWord is a secret that follows the word for it: a header, or the user part of an address.
var afterWord = regexp.MustCompile(`(?i)(\bbearer\s+|\bbasic\s+)([A-Za-z0-9._~+/=-]{12,})|(\b[a-z][a-z0-9+.-]*://[^\s/:@]*:)([^\s/@]+)(@)`)

// assignment is NAME=VALUE or NAME: VALUE in text; which names count Secret decides.
var assignment = regexp.MustCompile(`([A-Za-z][A-Za-z0-9_-]*)(["']?\s*[=:]\s*)("[^"\n]*"|'[^'\n]*'|[^\s"',;&]+)`)

// cookies is a header of which all pairs are secret, not only the first.
var cookies = regexp.MustCompile(`(?i)(\bcookie:[ \t]*)[^\r\n"']+`)

// Text masks secrets in plain text: known forms of credentials, what follows Bearer and Basic, the password of an
// address, and what is assigned to a secret name (PASSWORD=...). Without a secret s itself is returned.
func Text(s string) string {
	s = forms.ReplaceAllString(s, Mask)
	s = afterWord.ReplaceAllString(s, "${1}${3}"+Mask+"${5}")
	s = cookies.ReplaceAllString(s, "${1}"+Mask)
	return assignment.ReplaceAllStringFunc(s, func(match string) string {
		m := assignment.FindStringSubmatch(match)
		if !Secret(m[1]) || strings.HasPrefix(m[3], Mask) || isScheme(m[3]) {
			return match
		}
		return m[1] + m[2] + Mask
	})
}

// isScheme is the word before a credential that afterWord has masked: what is left is no secret.
func isScheme(s string) bool { return strings.EqualFold(s, "bearer") || strings.EqualFold(s, "basic") }

// Value masks secrets in a decoded JSON value. The result shares nothing with v that was changed; v stays as it is.
// Under a secret key everything but null, true, false and the empty text is masked, whole.
func Value(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, item := range t {
			if Secret(k) {
				out[k] = mask(item)
			} else {
				out[k] = Value(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, item := range t {
			out[i] = Value(item)
		}
		return out
	case string:
		return Text(t)
	default:
		return v
	}
}

func mask(v any) any {
	switch t := v.(type) {
	case nil, bool:
		return v
	case string:
		if t == "" {
			return v
		}
	}
	return Mask
}

// JSON masks secrets in raw JSON and keeps order and spelling of all else. Raw bytes that are no JSON are treated as
// text, so that something is returned for the log whatever happens; the result is then a JSON text.
func JSON(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := copyValue(&b, dec, false); err == nil {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return b.Bytes()
		}
	}
	b.Reset()
	writeText(&b, Text(string(raw)))
	return b.Bytes()
}

// copyValue copies one value from dec to b, masked where it is secret.
func copyValue(b *bytes.Buffer, dec *json.Decoder, secret bool) error {
	if secret {
		var v any
		if err := dec.Decode(&v); err != nil {
			return err
		}
		return write(b, mask(v))
	}
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	switch t := tok.(type) {
	case json.Delim:
		return copyContainer(b, dec, t)
	case string:
		writeText(b, Text(t))
		return nil
	default:
		return write(b, t)
	}
}

func copyContainer(b *bytes.Buffer, dec *json.Decoder, open json.Delim) error {
	b.WriteByte(byte(open))
	for n := 0; dec.More(); n++ {
		if n > 0 {
			b.WriteByte(',')
		}
		secret := false
		if open == '{' {
			tok, err := dec.Token()
			if err != nil {
				return err
			}
			key, ok := tok.(string)
			if !ok {
				return errors.New("no key")
			}
			writeText(b, key)
			b.WriteByte(':')
			secret = Secret(key)
		}
		if err := copyValue(b, dec, secret); err != nil {
			return err
		}
	}
	end, err := dec.Token()
	if err != nil {
		return err
	}
	b.WriteByte(byte(end.(json.Delim)))
	return nil
}

func write(b *bytes.Buffer, v any) error {
	raw, err := json.Marshal(v)
	b.Write(raw)
	return err
}

func writeText(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) == nil {
		b.Truncate(b.Len() - 1) // the line end that Encode adds
	}
}
