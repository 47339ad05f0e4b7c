// Command hitl-tui runs workflows that stop for people, and is the desk at which people answer.
package main

func main() {}
