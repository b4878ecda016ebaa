//go:build !race

package pio

const underRace = false
