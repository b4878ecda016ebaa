//go:build race

package sched

import (
	"runtime"
	"unsafe"
)

// What the race detector is told of a switch: all that a goroutine did before it left an LWP
// precedes what the next one does there.

//go:norace
func token(l *lwp) unsafe.Pointer { return unsafe.Pointer(&l.token) }

func raceRelease(l *lwp) { runtime.RaceReleaseMerge(token(l)) }

func raceAcquire(l *lwp) { runtime.RaceAcquire(token(l)) }

//go:norace
func (c *co) lwp() *lwp { return c.l }

func (c *co) release() { raceRelease(c.lwp()) }
func (c *co) acquire() { runtime.RaceAcquire(token(c.lwp())) }
