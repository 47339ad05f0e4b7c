// Package examples embeds the bundled workflows: real ones to copy, run by the demo and by a test that takes each
// from start to end through every one of its answers.
package examples

import "embed"

// Files holds the workflow files and the data they come with.
//
//go:embed *.yaml *.csv
var Files embed.FS
