// Package path shortens the way a thread took for showing it.
package path

import "github.com/hitl-tui/hitl-tui/internal/desk"

// Latest is a path with each node run once, as it stands now: a run that waited and was then answered is one run.
func Latest(steps []desk.PathStep) []desk.PathStep {
	var out []desk.PathStep
	at := map[string]int{}
	for _, s := range steps {
		if i, ok := at[s.Run]; ok && s.Run != "" {
			if s.TookMS == 0 {
				s.TookMS = out[i].TookMS
			}
			out[i] = s
			continue
		}
		at[s.Run] = len(out)
		out = append(out, s)
	}
	return out
}
