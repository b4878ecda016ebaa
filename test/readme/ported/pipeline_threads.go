package ported

import "github.com/pm2-go/pm2/marcel"

// pipelineThreads is pipelineGoroutines with threads. A stage that leaves closes the mailbox that it reads, so no
// channel of its own has to tell the stages.
func pipelineThreads(limit int) (sum int) {
	numbers, squares := marcel.NewMailbox[int](8), marcel.NewMailbox[int](8)
	defer squares.Close()

	marcel.Spawn(func() {
		defer numbers.Close()
		for n := 1; numbers.Send(n) == nil; n++ {
		}
	})

	marcel.Spawn(func() {
		defer squares.Close()
		defer numbers.Close()
		for n := range numbers.All() {
			if squares.Send(n*n) != nil {
				return
			}
		}
	})

	for s := range squares.All() {
		if s%2 == 1 {
			sum += s
		}
		if sum > limit {
			break
		}
	}
	return sum
}
