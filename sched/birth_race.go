//go:build race

package sched

import "sync/atomic"

// births tells the race detector what the hardware knows: who finds a thread, in
// however racy a way, finds it as newThread has made it.
var births atomic.Uint32

func born()     { births.Add(1) }
func sawBirth() { births.Load() }
