// Package e2e holds tests of the real binary and nothing else: it is killed at random and at named points, raced
// against itself, sent signals, put on broken disks and stores, and driven in a real terminal. What concerns the store is run over each
// that processes can share; servers that are killed or hurt are the tests' own.
//
// The binary is built once a run, with the tag crashpoints, which alone lets a test name the point at which it dies and
// shorten its lease. HITL_E2E_BINARY names one that was built so before.
package e2e
