package wire

// Health is GET /healthz of a server that is well.
type Health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
	Waiting int64  `json:"waiting"` // threads
	Running int64  `json:"running"`
}
