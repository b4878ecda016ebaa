package sched

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// A turn is the time for which the kernel has other OS threads run on the CPU of one that gives way: see giveWay.
const (
	longTurn  = 100_000_000 // ns: after a longer turn giveWay makes system calls that Go knows of
	turnTrust = 64          // for so many times the length of that turn
)

// tellGoUntil is until when giveWay makes system calls that Go knows of, in cycles.
var tellGoUntil atomic.Int64

// noteTurn notes a turn that began at the moment began and took so long, both in cycles.
func noteTurn(began, took int64) {
	if took > asm.ToCycles(longTurn) {
		tellGoUntil.Store(began + turnTrust*took)
	}
}
