package region

import (
	"math/rand/v2"
	"testing"
)

// TestBlocks takes and gives blocks at random: those that are taken never overlap, what is free and what is taken
// make up the region at any time, a refusal means that there is no free run of pages as long as asked for at the place where
// a block of that order lies, and in the end all of it is one block again.
func TestBlocks(t *testing.T) {
	for _, pages := range []int{1, 2, 3, 7, 64, 100, 1000, 1024} {
		rng := rand.New(rand.NewPCG(7, uint64(pages)))
		b := NewBlocks(pages)
		owner := make([]int, pages) // of each page: 1 + where its block begins
		taken := map[int]int{}      // pages, by where it begins
		used := 0
		for step := range 20_000 {
			if rng.IntN(2) == 0 || len(taken) == 0 {
				bytes := rng.IntN(pages*PageSize + 1)
				if rng.IntN(3) > 0 {
					bytes = rng.IntN(min(bytes, 8*PageSize) + 1)
				}
				n := max(1, (bytes+PageSize-1)/PageSize)
				at, ok := b.Take(bytes)
				if !ok {
					if run := aligned(owner, n); run >= 0 {
						t.Fatalf("%d pages, step %d: no block of %d pages, but those from %d on are free", pages, step, n, run)
					}
					continue
				}
				if at+n > pages || b.Bytes(at) != n*PageSize {
					t.Fatalf("%d pages, step %d: a block of %d bytes at page %d for %d bytes", pages, step, b.Bytes(at), at, bytes)
				}
				for i := at; i < at+n; i++ {
					if owner[i] != 0 {
						t.Fatalf("%d pages, step %d: page %d belongs to the blocks at %d and %d", pages, step, i, owner[i]-1, at)
					}
					owner[i] = at + 1
				}
				taken[at] = n
				used += n
			} else {
				for at, n := range taken {
					if !b.Give(at) || b.Give(at) {
						t.Fatalf("%d pages, step %d: block at page %d cannot be given back exactly once", pages, step, at)
					}
					clear(owner[at : at+n])
					delete(taken, at)
					used -= n
					break
				}
			}
			if b.Free() != pages-used {
				t.Fatalf("%d pages, step %d: %d are free, should be %d", pages, step, b.Free(), pages-used)
			}
		}
		for at := range taken {
			b.Give(at)
		}
		if at, ok := b.Take(pages * PageSize); ok != (pages&(pages-1) == 0) || at != 0 {
			// Of a region that is no power of two its largest part is the largest block.
			t.Errorf("%d pages, all of them free again: all at once: %v at %d", pages, ok, at)
		}
	}
}

// aligned finds n free pages in a free block of the buddy system that has room for them; -1: there are none.
func aligned(owner []int, n int) int {
	size := 1
	for size < n {
		size *= 2
	}
	for at := 0; at+size <= len(owner); at += size {
		free := true
		for i := at; i < at+size; i++ {
			free = free && owner[i] == 0
		}
		if free {
			return at
		}
	}
	return -1
}

// TestBlocksRefuse: what makes no sense is refused.
func TestBlocksRefuse(t *testing.T) {
	b := NewBlocks(8)
	for _, bytes := range []int{-1, 8*PageSize + 1, 1 << 62} {
		if _, ok := b.Take(bytes); ok {
			t.Errorf("a block of %d bytes out of 8 pages", bytes)
		}
	}
	for _, at := range []int{-1, 0, 7, 8} {
		if b.Give(at) || b.Bytes(at) != 0 {
			t.Errorf("a block at page %d that was not taken", at)
		}
	}
}

// TestBlocksAllocateNothing also says that the block that was given back last comes first.
func TestBlocksAllocateNothing(t *testing.T) {
	b := NewBlocks(1024)
	first, _ := b.Take(100_000)
	b.Give(first)
	if n := testing.AllocsPerRun(100, func() {
		at, ok := b.Take(100_000)
		if !ok || at != first || !b.Give(at) {
			t.Errorf("block at %d, before at %d", at, first)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
