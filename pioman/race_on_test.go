//go:build race

package pioman

const raceEnabled = true
