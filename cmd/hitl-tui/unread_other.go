//go:build !unix

package main

import "os"

// whenUnread cannot be told here that nobody reads a file any more: that is noticed at the next write to it.
func whenUnread(*os.File, func()) (stop func()) { return func() {} }
