package ported

import (
	"context"
	"sync"
)

type job struct{ at, n int }

type result struct {
	at, value int
	err       error
}

// poolGoroutines has the workers call f for each of the numbers and returns what f returned, in the same order. The
// first error, or the end of ctx, stops them.
func poolGoroutines(ctx context.Context, workers int, numbers []int, f func(context.Context, int) (int, error)) ([]int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	jobs, results := make(chan job), make(chan result)

	go func() {
		defer close(jobs)
		for i, n := range numbers {
			select {
			case jobs <- job{i, n}:
			case <-ctx.Done():
				return
			}
		}
	}()

	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for j := range jobs {
				v, err := f(ctx, j.n)
				select {
				case results <- result{j.at, v, err}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go func() {
		wg.Wait()
		close(results)
	}()

	values := make([]int, len(numbers))
	for r := range results {
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
