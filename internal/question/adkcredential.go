package question

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// credential is ADK's request for a credential. Of the AuthConfig only what tells a person which one is wanted is
// shown: the rest may itself be secret. Every field of the form is secret (actions.Question.IsSecret).
type credential struct {
	adkCall
	message string
	config  *object
	scheme  string // apiKey, http, oauth2, openIdConnect, or another
	basic   bool   // http with name and password
	camel   bool   // keys are written so
	tells   []actions.Labelled
}

func readCredential(p payload) (asked, bool) {
	c, ok := readADK(p, adkCredential)
	if !ok {
		return nil, false
	}
	x := credential{adkCall: c, message: c.args.text("message"), camel: !c.args.has("auth_config")}
	x.config = c.args.object("authConfig", "auth_config")
	if x.config.members == nil {
		return nil, false
	}
	scheme := x.config.object("authScheme", "auth_scheme")
	raw, exchanged := x.config.object("rawAuthCredential", "raw_auth_credential"), x.config.object("exchangedAuthCredential", "exchanged_auth_credential")
	x.scheme = firstOf(scheme.text("type", "type_"), exchanged.text("authType", "auth_type"), raw.text("authType", "auth_type"))
	x.basic = strings.EqualFold(scheme.text("scheme"), "basic")
	if x.config.has("auth_scheme") {
		x.camel = false
	}
	oauth := exchanged.object("oauth2")
	x.tells = slices.Concat(labelText("kind", x.scheme), labelText("name", scheme.text("name")), labelText("in", scheme.text("in")),
		labelText("description", scheme.text("description")), labelText("key", x.config.text("credentialKey", "credential_key")),
		labelText("open this address", oauth.text("authUri", "auth_uri")))
	return x, true
}

// field is one text of the form that is never shown.
func secretField(title string) list {
	return list{{"type", "string"}, {"title", title}, {"minLength", 1}, {"writeOnly", true}}
}

func (x credential) question() actions.Question {
	var fields list
	message := firstOf(x.message, "The agent needs a credential.")
	switch {
	case x.scheme == "apiKey":
		fields = list{{"api_key", secretField("API key")}}
	case x.scheme == "http" && x.basic:
		fields = list{{"username", list{{"type", "string"}, {"title", "User name"}, {"maxLength", 120}}}, {"password", secretField("Password")}}
	case x.scheme == "http":
		fields = list{{"token", secretField("Token")}}
	case x.scheme == "oauth2" || x.scheme == "openIdConnect":
		fields = list{{"auth_response_uri", secretField("Address the browser was sent back to")}}
	default:
		fields = list{{"credential", secretField("Credential, as text or JSON")}}
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	return actions.Question{
		Kind: actions.FormKind, Title: firstLine(message), Message: message, Context: x.tells, Actions: offer(actions.Submit), PeopleOnly: true,
		Schema: must(list{{"type", "object"}, {"properties", fields}, {"required", names}}),
	}
}

// answer is the AuthConfig with the credential exchanged; of a kind that is not known the credential alone.
func (x credential) answer(given Given) (any, error) {
	var form map[string]string
	if err := json.Unmarshal(given.Value, &form); err != nil {
		return nil, cannotSay(given.Action, "the form is not the credential that is asked for")
	}
	var made list
	switch {
	case x.scheme == "apiKey":
		made = list{{x.key("authType"), x.scheme}, {x.key("apiKey"), form["api_key"]}}
	case x.scheme == "http":
		scheme, secret := "bearer", list{{"token", form["token"]}}
		if x.basic {
			scheme, secret = "basic", list{{"username", form["username"]}, {"password", form["password"]}}
		}
		made = list{{x.key("authType"), x.scheme}, {"http", list{{"scheme", scheme}, {"credentials", secret}}}}
	case x.scheme == "oauth2" || x.scheme == "openIdConnect":
		oauth := x.config.object(x.key("exchangedAuthCredential")).object("oauth2")
		made = list{{x.key("authType"), x.scheme}, {"oauth2", oauth.set(x.key("authResponseUri"), form["auth_response_uri"])}}
	default:
		if secret := json.RawMessage(strings.TrimSpace(form["credential"])); isObject(secret) && json.Valid(secret) {
			return x.respond(secret), nil
		}
		return x.respond(quoted(form["credential"])), nil
	}
	return x.respond(must(x.config.set(x.key("exchangedAuthCredential"), made))), nil
}

// key is a key in the writing of the request: camelCase, or snake_case.
func (x credential) key(camel string) string {
	if x.camel {
		return camel
	}
	var b strings.Builder
	for _, r := range camel {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// set is the object with one member replaced, or added.
func (o *object) set(name string, value any) list {
	var out list
	for _, m := range o.members {
		if m.name != name {
			out = append(out, entry{m.name, m.value})
		}
	}
	return append(out, entry{name, value})
}
