//go:build race

package sched

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// What the race detector is told of a switch: all that a goroutine did before it left an LWP
// precedes what the next one does there.

func token(l *lwp) unsafe.Pointer { return unsafe.Pointer(&l.token) }

func raceRelease(l *lwp) { runtime.RaceReleaseMerge(token(l)) }

func raceAcquire(l *lwp) { runtime.RaceAcquire(token(l)) }

// lwp is read by c, or for it: the one that has switched to c, or parked it, has written l, and the acquire that makes
// that known needs the token of l.
//
//go:norace
func (c *co) lwp() *lwp { return c.l }

func (c *co) release() { raceRelease(c.lwp()) }
func (c *co) acquire() { runtime.RaceAcquire(token(c.lwp())) }

// births tells the race detector what the hardware knows: one that finds a thread, in however racy a way, finds it as
// newThread has made it.
var births atomic.Uint32

func raceBirth()    { births.Add(1) }
func raceSawBirth() { births.Load() }
