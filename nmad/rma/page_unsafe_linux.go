package rma

import (
	"sync/atomic"
	"unsafe"

	"github.com/pm2-go/pm2/nmad/internal/mapped"
)

// page is memory in which a process shows the state of its World to the others of its host, which map it:
//
//	sleeping   how many threads sleep until a signal comes: the process writes it, signalers read it
//	scratch    two words for the probe whether the kernel copies: the first is random, the prober writes the second
//	hazards    where this process lets the kernel copy at this moment: rank << 32 | index + 1 of the memory; 0: nowhere.
//	           The process writes them, the owner of the memory reads them
//	live       the key of each region of the process, by index / 2; 0: it was closed. The process writes them, copiers
//	           and users of mapped memory read them
type page struct {
	m    *mapped.Memory
	base pointer
}

// pageIn returns the page that lies in m.
func pageIn(m *mapped.Memory) *page { return &page{m, baseOf(m.Bytes())} }

// Offsets in a page, in bytes, and how many words it has of a kind. Each kind has cache lines of its own.

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

// word is the word at an offset.
func (p *page) word(offset uint64) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Add(p.base, offset))
}

func (p *page) sleeping() *atomic.Uint64    { return p.word(sleepingAt) }
func (p *page) hazard(i int) *atomic.Uint64 { return p.word(hazardsAt + 8*uint64(i)) }

// live is the word of the region of that index; nil: there is no page, or it has no word for that index.
func (p *page) live(index uint32) *atomic.Uint64 {
	if p == nil || index/2 >= lives {
		return nil
	}
	return p.word(liveAt + 8*uint64(index/2))
}

// address is the address of the page in this process.
func (p *page) address() uint64 { return uint64(uintptr(p.base)) }
