package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
)

// String gives v as people see it: "5.1", or "5" where any revision will do.
func (v Version) String() string {
	if v.Revision == 0 {
		return strconv.FormatInt(v.Step, 10)
	}
	return strconv.FormatInt(v.Step, 10) + "." + strconv.FormatInt(v.Revision, 10)
}

// Matches reports whether the checkpoint named head is the one v names.
func (v Version) Matches(head Version) bool {
	return v.Step == head.Step && (v.Revision == 0 || v.Revision == head.Revision)
}

// ParseVersion reads what String writes.
func ParseVersion(s string) (Version, error) {
	step, revision, dotted := strings.Cut(s, ".")
	var v Version
	var err error
	if v.Step, err = parseCount(step); err != nil {
		return Version{}, fmt.Errorf("version %q: want STEP or STEP.REVISION, such as 5 or 5.1", s)
	}
	if !dotted {
		return v, nil
	}
	if v.Revision, err = parseCount(revision); err != nil || v.Revision == 0 {
		return Version{}, fmt.Errorf("version %q: want STEP or STEP.REVISION, such as 5 or 5.1", s)
	}
	return v, nil
}

func parseCount(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || s[0] == '+' {
		return 0, strconv.ErrSyntax
	}
	return int64(n), nil
}
