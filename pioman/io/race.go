//go:build race

package pio

// underRace: the race detector watches.
const underRace = true
