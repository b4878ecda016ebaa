package marcel_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// treeDepth makes a binary tree of 2^17-1 nodes, a thread for each but the root.
const treeDepth = 16

func treeOfThreads(depth int) int {
	if depth == 0 {
		return 1
	}
	var left, right int
	a := marcel.Spawn(func() { left = treeOfThreads(depth - 1) })
	b := marcel.Spawn(func() { right = treeOfThreads(depth - 1) })
	_, _ = b.Join(), a.Join()
	return left + right + 1
}

func treeOfGoroutines(depth int) int {
	if depth == 0 {
		return 1
	}
	var left, right int
	var wg sync.WaitGroup
	wg.Go(func() { left = treeOfGoroutines(depth - 1) })
	wg.Go(func() { right = treeOfGoroutines(depth - 1) })
	wg.Wait()
	return left + right + 1
}

// BenchmarkTree spawns a tree of threads recursively, under both policies, and the same
// of goroutines; per node.
func BenchmarkTree(b *testing.B) {
	const nodes = 2<<treeDepth - 1
	perNode := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/nodes, "ns/node")
	}
	for _, vps := range []int{1, 2} {
		for name, policy := range map[string]marcel.Policy{"Fair": marcel.Fair, "LIFO": marcel.LIFO} {
			b.Run(fmt.Sprintf("%s/%dVP", name, vps), func(b *testing.B) {
				s, err := sched.New(sched.Config{VPs: vps, Policy: policy})
				if err != nil {
					b.Fatal(err)
				}
				marcel.RunOn(s, func() {
					treeOfThreads(treeDepth)
					b.ResetTimer()
					for range b.N {
						if n := treeOfThreads(treeDepth); n != nodes {
							b.Errorf("%d nodes", n)
						}
					}
				})
				perNode(b)
				if err := s.Stop(context.Background()); err != nil {
					b.Fatal(err)
				}
			})
		}
		b.Run(fmt.Sprintf("goroutine/%dP", vps), func(b *testing.B) {
			beside(b, vps, func() {
				for range b.N {
					treeOfGoroutines(treeDepth)
				}
			})
			perNode(b)
		})
	}
}
