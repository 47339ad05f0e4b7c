package desk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// draftKey names what a draft is for, however often it is asked: a question that is asked again in the same node run
// with the same payload has a new id and the same key.
type draftKey struct{ thread, path, key, hash string }

func (k draftKey) file() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{k.thread, k.path, k.key, k.hash}, "\x00")))
	return hex.EncodeToString(sum[:16]) + ".json"
}

func keyOf(x Draft) draftKey { return draftKey{x.Thread, x.Path, x.Key, x.Hash} }

// PayloadHash names a payload: SHA-256 of its compact JSON.
func PayloadHash(payload json.RawMessage) string {
	var compact bytes.Buffer
	if json.Compact(&compact, payload) != nil {
		compact.Reset()
		compact.Write(payload)
	}
	sum := sha256.Sum256(compact.Bytes())
	return hex.EncodeToString(sum[:])
}

// NewDraft is an empty draft for q.
func NewDraft(q Question) Draft {
	return Draft{Thread: q.Thread, Question: q.ID, Path: q.Path, Key: q.Key, Hash: PayloadHash(q.Whole().Payload)}
}

// drafts is what was typed and not sent, by what it is for.
type drafts map[draftKey]Draft

func (m drafts) find(q Question) *Draft {
	for _, x := range m {
		if q.ID != "" && x.Question == q.ID && x.Thread == q.Thread {
			return &x
		}
	}
	if x, ok := m[keyOf(NewDraft(q))]; ok {
		return &x
	}
	return nil
}

// Draft finds what was typed for a question: by id, else by node path, key and payload hash. nil without one.
func (d *Desk) Draft(q Question) *Draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.outbox.drafts.find(q)
}

// SaveDraft keeps it on disk; an empty text discards it. What is typed as an answer to a credential question is not
// kept, nor what was saved before that which is kept already: two saves may overtake each other.
func (d *Desk) SaveDraft(x Draft) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x.Text == "" {
		return d.dropDraft(x.Thread, x.Question, keyOf(x))
	}
	if d.outbox.secret[x.Question] || d.outbox.drafts[keyOf(x)].Saved.After(x.Saved) && !x.Saved.IsZero() {
		return nil
	}
	return d.keepDraft(x)
}

// Drafts tells which threads have a draft.
func (d *Desk) Drafts() map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	threads := make(map[string]bool, len(d.outbox.drafts))
	for key := range d.outbox.drafts {
		threads[key.thread] = true
	}
	return threads
}

// keepDraft writes first: memory never claims what the disk does not hold. d.mu is held.
func (d *Desk) keepDraft(x Draft) error {
	if x.Saved.IsZero() {
		x.Saved = d.o.Now()
	}
	if err := d.files.writeDraft(keyOf(x), x); err != nil {
		return err
	}
	d.outbox.drafts[keyOf(x)] = x
	return nil
}

// dropDraft discards the draft of a question, whichever way it is found. d.mu is held.
func (d *Desk) dropDraft(thread, question string, key draftKey) error {
	for k, x := range d.outbox.drafts {
		if k != key && (question == "" || x.Thread != thread || x.Question != question) {
			continue
		}
		if err := d.files.removeDraft(k); err != nil {
			return err
		}
		delete(d.outbox.drafts, k)
	}
	return nil
}
