package wire

import "github.com/hitl-tui/hitl-tui/internal/desk"

// Compacted is `compact --json`.
type Compacted struct {
	BeforeBytes int64 `json:"before_bytes"`
	AfterBytes  int64 `json:"after_bytes"`
}

// Finding is one line of `doctor`.
type Finding struct {
	Check  string  `json:"check"` // what was looked at: configuration, store, integrity ...
	Level  string  `json:"level"` // ok, note or problem
	Text   string  `json:"text"`
	Remedy *string `json:"remedy"`
}

// Doctor is `doctor --json`.
type Doctor struct {
	Healthy  bool         `json:"healthy"` // there is no problem
	Findings []Finding    `json:"findings"`
	Store    *DoctorStore `json:"store"` // null when it could not be looked at
}

// DoctorStore is a store in numbers.
type DoctorStore struct {
	URL          string `json:"url"`
	Schema       int    `json:"schema"`
	Threads      int64  `json:"threads"`
	Steps        int64  `json:"steps"`
	Decisions    int64  `json:"decisions"`
	SizeBytes    int64  `json:"size_bytes"`
	FreeBytes    int64  `json:"free_bytes"`
	LogBytes     int64  `json:"log_bytes"`
	PerDayBytes  int64  `json:"per_day_bytes"` // written lately
	PrunableSize int64  `json:"prunable_bytes"`
	Prunable     int64  `json:"prunable_steps"`
}

// FromInspection is the store of a doctor's report.
func FromInspection(info desk.StoreInfo, x *desk.Inspection, would desk.Retained) *DoctorStore {
	return &DoctorStore{
		URL: info.URL, Schema: info.Schema, Threads: x.Threads, Steps: x.Steps, Decisions: x.Decisions, SizeBytes: info.Bytes,
		FreeBytes: info.FreeBytes, LogBytes: info.LogBytes, PerDayBytes: x.PerDay(), PrunableSize: would.Bytes, Prunable: would.Steps,
	}
}
