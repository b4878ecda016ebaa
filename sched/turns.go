package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// A turn is how long the kernel has others run on the CPU of an OS thread that gives way; see giveWay.
const (
	longTurn  = 100_000_000 // ns
	turnTrust = 64
)

// toldUntil is until when Go is told of each turn, in cycles.
var toldUntil atomic.Int64

// noteTurn takes in how long a turn has taken, in cycles.
func noteTurn(began, took int64) {
	if took > asm.ToCycles(longTurn) {
		toldUntil.Store(began + turnTrust*took)
	}
}
