package ported

import (
	"context"

	"github.com/pm2-go/pm2/marcel"
)

// poolThreads is poolGoroutines with threads.
func poolThreads(ctx context.Context, workers int, numbers []int, f func(context.Context, int) (int, error)) ([]int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var jobs marcel.Mailbox[job] // the zero value has capacity 0, as make(chan job)
	var results marcel.Mailbox[result]

	marcel.Spawn(func() {
		defer jobs.Close()
		for i, n := range numbers {
			if jobs.SendContext(ctx, job{i, n}) != nil {
				return
			}
		}
	})

	var wg marcel.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs.All() {
				v, err := f(ctx, j.n)
				if results.SendContext(ctx, result{j.at, v, err}) != nil {
					return
				}
			}
		})
	}
	marcel.Spawn(func() {
		wg.Wait()
		results.Close()
	})

	values := make([]int, len(numbers))
	for r := range results.All() {
		if r.err != nil {
			cancel(r.err)
			continue
		}
		values[r.at] = r.value
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return values, nil
}
