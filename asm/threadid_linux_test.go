package asm

import (
	"runtime"
	"sync"
	"testing"
)

func TestThreadIDIsStableAndDistinct(t *testing.T) {
	const threads = 8
	type pair struct{ id, tid uintptr }
	seen := make([]pair, threads)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	for i := range threads {
		done.Add(1)
		go func() {
			defer done.Done()
			runtime.LockOSThread() // and all of them live at the same time:
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
			seen[i] = pair{ThreadID(), gettid()}
			for range 1000 {
				if now := ThreadID(); now != seen[i].id {
					t.Errorf("thread %d: %#x, then %#x", seen[i].tid, seen[i].id, now)
					return
				}
			}
			runtime.Gosched()
			if now := ThreadID(); now != seen[i].id {
				t.Errorf("thread %d: %#x, after Gosched %#x", seen[i].tid, seen[i].id, now)
			}
		}()
	}
	done.Wait()
	for i, a := range seen {
		if a.id == 0 {
			t.Errorf("thread %d has no identity", a.tid)
		}
		for _, b := range seen[:i] {
			if a.id == b.id || a.tid == b.tid {
				t.Errorf("threads %d and %d: %#x and %#x", a.tid, b.tid, a.id, b.id)
			}
		}
	}
}

// Two goroutines that are not locked change threads; the identity must follow
// the thread, so that it always pairs with the same thread id.
func TestThreadIDFollowsTheThread(t *testing.T) {
	var pairs sync.Map // gettid -> ThreadID
	var all sync.WaitGroup
	for range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 2000 {
				runtime.LockOSThread()
				tid, id := gettid(), ThreadID()
				runtime.UnlockOSThread()
				if before, ok := pairs.LoadOrStore(tid, id); ok && before != id {
					t.Errorf("thread %d: %#x, then %#x", tid, before, id)
					return
				}
				runtime.Gosched()
			}
		}()
	}
	all.Wait()
}

func BenchmarkThreadID(b *testing.B) {
	var sum uintptr
	for b.Loop() {
		sum += ThreadID()
	}
	_ = sum
}

// The peer of ThreadID: the system call.
func BenchmarkGettid(b *testing.B) {
	var sum uintptr
	for b.Loop() {
		sum += gettid()
	}
	_ = sum
}
