//go:build !race

package stress

const underRace = false
