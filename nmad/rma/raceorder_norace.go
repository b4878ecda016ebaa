//go:build !race

package rma

// raceOrder is nothing without the race detector; see raceorder_race.go.
type raceOrder struct{}

func (*raceOrder) pass() {}
