//go:build chaos

package sched

// With the build tag chaos a scheduler meets all the time what it else meets now and then:
//
//   - run queues begin with room for two threads, so that they grow and wrap around;
//   - thieves take any number of threads from any VP, however far, few or young they are.
//
// It is for the tests (go test -tags chaos ./test/stress): slow, and no figure of it means
// anything.

const firstRing = 2

const reckless = true
