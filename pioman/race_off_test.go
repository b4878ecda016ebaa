//go:build !race

package pioman

const raceEnabled = false
