//go:build !race

package rma

// meeting is nothing without the race detector; see meeting_race.go.
type meeting struct{}

func (*meeting) meet() {}
