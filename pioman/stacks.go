package pioman

import (
	"sync/atomic"

	"github.com/pm2-go/pm2/asm"
)

// stack is a goroutine on whose stack continuations run at this moment: how many inside each
// other, and until when.
type stack struct {
	g     atomic.Uintptr // asm.G of the goroutine that has claimed it, and alone uses the rest; 0: free
	depth int
	until int64 // asm.Cycles at the end of its time

	_ [line - 24]byte
}

// stacks are found by a hash of g, in one of a few places; if all of these are taken a
// continuation goes to the next poll round, as if its time were over.
var stacks [64]stack

const stackProbes = 4

// stackOf returns the stack of g, nil if no continuation runs there. If there is one it is g's own, hence constant.
func stackOf(g uintptr) *stack {
	for i, h := 0, stackHash(g); i < stackProbes; i++ {
		if s := &stacks[(h+i)%len(stacks)]; s.g.Load() == g {
			return s
		}
	}
	return nil
}

func stackHash(g uintptr) int { return int(uint64(g) * 0x9e3779b97f4a7c15 >> 40) }

// claimStack enters the caller's stack, whatever its budget, which begins if nothing runs
// there yet; nil: there is no place to note it.
func claimStack(e *Engine) *stack {
	g := asm.G()
	if s := stackOf(g); s != nil {
		s.depth++
		return s
	}
	for i, h := 0, stackHash(g); i < stackProbes; i++ {
		if s := &stacks[(h+i)%len(stacks)]; s.g.Load() == 0 && s.g.CompareAndSwap(0, g) {
			s.depth, s.until = 1, asm.Cycles()+e.ticks.inline
			return s
		}
	}
	return nil
}

// enterStack enters it if its budget allows another continuation.
func enterStack(e *Engine) *stack {
	if s := stackOf(asm.G()); s != nil && (s.depth >= e.params.inlineDepth || asm.Cycles() >= s.until) {
		return nil
	}
	return claimStack(e)
}

func (s *stack) leave() {
	if s == nil {
		return
	}
	if s.depth--; s.depth == 0 {
		s.g.Store(0)
	}
}
