//go:build race

package pio

// underRace says that the program is built with the race detector.
const underRace = true
