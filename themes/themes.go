// Package themes embeds the bundled colour themes, one YAML file each.
//
// A theme is a table of tokens, each with a value for light and one for dark terminals; package theme of the desk
// reads it and makes styles of it. Users' own themes have the same form.
package themes

import "embed"

// FS holds NAME.yaml for each bundled theme.
//
//go:embed *.yaml
var FS embed.FS
