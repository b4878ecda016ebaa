//go:build race

package stress

// underRace: the race detector keeps notes of all goroutines and memory that ever were,
// so the process grows.
const underRace = true
