package rma

import (
	"sync/atomic"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// page is what a process lets the others of its host see of its World, by lines of 64 bytes:
//
//	sleeping   threads that sleep until a signal comes: written by the process itself, read by those that signal
//	scratch    two words for the probe whether the kernel copies: the first is random, the second is written by the prober
//	hazards    what this process has the kernel copy in memory of others just now: rank and index + 1; 0: nothing
//	live       the key of each region of the process, by index / 2; 0: it was closed
type page struct {
	m    *mapped.Memory
	base pointer
}

// pageIn is the page in that memory.
func pageIn(m *mapped.Memory) *page { return &page{m, baseOf(m.Bytes())} }

const (
	sleepingAt = 0
	markAt     = 64
	scratchAt  = 72
	hazardsAt  = 128
	liveAt     = 4096
	hazards    = 64
	lives      = 16 << 10
	pageBytes  = liveAt + 8*lives
)

func (p *page) word(offset uint64) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(p.base, offset))
}

func (p *page) sleeping() *atomic.Uint64    { return p.word(sleepingAt) }
func (p *page) hazard(i int) *atomic.Uint64 { return p.word(hazardsAt + 8*uint64(i)) }

// live is the word of a region; nil: the page has none for that index.
func (p *page) live(index uint32) *atomic.Uint64 {
	if p == nil || index/2 >= lives {
		return nil
	}
	return p.word(liveAt + 8*uint64(index/2))
}

// address is where the page lies in this process, as a number.
func (p *page) address() uint64 { return uint64(uintptr(p.base)) }
