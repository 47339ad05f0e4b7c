// Package examples embeds the bundled workflows: real ones to copy, run by the demo and by a test that takes each
// from start to end through every one of its answers.
package examples

import "embed"

// Files holds the workflow files, the programs they run and the data they come with. They belong into one folder, in
// which threads are started.
//
//go:embed *.yaml *.csv *.py *.sh
var Files embed.FS
