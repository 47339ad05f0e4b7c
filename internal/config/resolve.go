package config

// Origin says where the value of a setting comes from.
type Origin string

// The origins, the strongest first.
const (
	FromFlag    Origin = "flag"
	FromEnv     Origin = "environment"
	FromFile    Origin = "config"
	FromDefault Origin = "default"
)

// Setting is one setting in each of the places where it can be given. Empty means not given.
type Setting struct {
	Flag    string
	EnvName string // HITL_TUI_STORE
	File    string
	Default string
}

// Resolve is the value of s and where it comes from: flag, then environment, then configuration, then default.
func Resolve(env Env, s Setting) (string, Origin) {
	if s.Flag != "" {
		return s.Flag, FromFlag
	}
	if v, ok := env(s.EnvName); ok && s.EnvName != "" && v != "" {
		return v, FromEnv
	}
	if s.File != "" {
		return s.File, FromFile
	}
	return s.Default, FromDefault
}
