package actions

// IsSecret says whether the question is answered with a secret: its schema calls the value, or a field of it, writeOnly
// or of format password. Such an answer is never echoed, drafted or written to a file, and the record of decisions keeps
// only what Recorded leaves of it.
func (q Question) IsSecret() bool {
	if len(q.Schema) == 0 {
		return false
	}
	s, err := CompileSchema(q.Schema)
	if err != nil {
		return false
	}
	names := map[string]bool{}
	secretNames(s.Fields(), names)
	return len(names) > 0 || s.fieldOf("", s.source, 0).Secret
}
