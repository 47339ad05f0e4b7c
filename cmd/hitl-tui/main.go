// Command hitl-tui runs workflows that stop for people, and is the desk at which people answer.
package main

import "os"

func main() { os.Exit(Main()) }

// Main is the whole program but for the exit, so that scripts can test it in a process of their own.
func Main() int {
	return run(os.Args[1:], system())
}
