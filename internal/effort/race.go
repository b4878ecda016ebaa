//go:build race

package effort

// slower divides what is done under the race detector.
const slower = 2
