package lock

import (
	"fmt"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// TestDomainLock: the owner and other threads exclude each other, with and without a barrier of the kernel.
func TestDomainLock(t *testing.T) {
	for _, c := range []struct{ private, fenced bool }{{false, false}, {true, false}, {true, true}} {
		t.Run(fmt.Sprintf("private %v, fenced %v", c.private, c.fenced), func(t *testing.T) {
			l := NewDomain(nil)
			if c.private {
				l.Bias()
				l.fenced = l.fenced || c.fenced
			}
			count, turns := 0, effort.Of(20000)
			section := func(try bool) {
				if try && l.TryLock() || !try {
					if !try {
						l.Lock()
					}
					count++
					l.Unlock()
				} else {
					l.Lock()
					count++
					l.Unlock()
				}
			}
			var others sync.WaitGroup
			for range 2 {
				others.Go(func() {
					for i := range turns / 10 {
						section(i%2 == 0)
					}
				})
			}
			for i := range turns {
				section(i%2 == 0)
			}
			others.Wait()
			if want := turns + 2*(turns/10); count != want {
				t.Errorf("%d turns have counted %d", want, count)
			}
		})
	}
}

// BenchmarkLocks: taking and letting go the lock of each kind of domain.
func BenchmarkLocks(b *testing.B) {
	shared, serialized, fine, private := &Gate{}, &Gate{}, &Gate{}, &Gate{}
	serialized.Join(&Domain{}, nil)
	private.Join(&Domain{}, nil)
	fine.Join(nil, &Spin{})
	for name, l := range map[string]*Gate{"shared": shared, "serialized": serialized, "fine": fine, "private": private} {
		b.Run(name, func(b *testing.B) {
			if name == "private" {
				l.domain.Bias()
			}
			taken := 0
			for b.Loop() {
				l.Lock()
				taken++
				l.Unlock()
			}
		})
	}
}
