//go:build !race

package marcel_test

const underRace = false
