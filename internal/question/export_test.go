package question

import "encoding/json"

// Takes says whether one row alone takes a payload.
func Takes(f Format, payload json.RawMessage) bool {
	_, ok := f.read(newPayload(payload))
	return ok
}
