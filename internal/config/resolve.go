package config

import (
	"fmt"
	"strings"
)

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

// Switch is a setting that is on or off, in each of the places where it can be given.
type Switch struct {
	EnvName string // HITL_TUI_ASCII
	File    *bool  // nil: not given
	Default bool
}

// ResolveSwitch is Resolve for a switch: 1, true, yes or on in the environment, or 0, false, no or off. Another word is an
// error that names the variable.
func ResolveSwitch(env Env, s Switch) (bool, Origin, error) {
	v, _ := env(s.EnvName)
	switch strings.ToLower(v) {
	case "1", "true", "yes", "on":
		return true, FromEnv, nil
	case "0", "false", "no", "off":
		return false, FromEnv, nil
	case "":
	default:
		return false, FromEnv, fmt.Errorf("%s must be 1 or 0, not %q", s.EnvName, v)
	}
	if s.File != nil {
		return *s.File, FromFile, nil
	}
	return s.Default, FromDefault, nil
}
