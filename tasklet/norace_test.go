//go:build !race

package tasklet

const raceEnabled = false
