package ported

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// pools are both versions, and the threads' started from a thread as well.
var pools = map[string]func(context.Context, int, []int, func(context.Context, int) (int, error)) ([]int, error){
	"goroutines": poolGoroutines,
	"threads":    poolThreads,
	"threads in a thread": func(ctx context.Context, workers int, numbers []int, f func(context.Context, int) (int, error)) (v []int, err error) {
		marcel.Run(func() { v, err = poolThreads(ctx, workers, numbers, f) })
		return v, err
	},
}

func TestPool(t *testing.T) {
	numbers, want := make([]int, 1000), make([]int, 1000)
	for i := range numbers {
		numbers[i], want[i] = i, i*i
	}
	for name, pool := range pools {
		t.Run(name, func(t *testing.T) {
			got, err := pool(t.Context(), 8, numbers, func(_ context.Context, n int) (int, error) { return n * n, nil })
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v", got, err)
			}

			full := errors.New("the disk is full")
			var called atomic.Int32
			got, err = pool(t.Context(), 4, numbers, func(ctx context.Context, n int) (int, error) {
				called.Add(1)
				if n == 5 {
					return 0, full
				}
				if n > 5 { // the others wait until they are told to stop
					marcel.Select(marcel.Done(ctx)) // <-ctx.Done(), for threads and goroutines
					return n, context.Cause(ctx)
				}
				return n, nil
			})
			if !errors.Is(err, full) || got != nil {
				t.Errorf("got %v, %v, want the first error", got, err)
			}
			if n := called.Load(); n < 6 || int(n) > len(numbers)/2 {
				t.Errorf("%d calls until all have stopped", n)
			}

			ctx, cancel := context.WithCancel(t.Context())
			got, err = pool(ctx, 4, numbers, func(_ context.Context, n int) (int, error) {
				if n == 7 {
					cancel()
				}
				return n, nil
			})
			if !errors.Is(err, context.Canceled) || got != nil {
				t.Errorf("got %v, %v after the caller has canceled", got, err)
			}
		})
	}
	nobodyLeft(t)
}

func TestPipeline(t *testing.T) {
	for _, limit := range []int{0, 9, 1000, 1e7} {
		if a, b := pipelineGoroutines(limit), pipelineThreads(limit); a != b || a <= limit {
			t.Errorf("limit %d: %d with goroutines, %d with threads", limit, a, b)
		}
		marcel.Run(func() {
			if a, b := pipelineGoroutines(limit), pipelineThreads(limit); a != b {
				t.Errorf("limit %d, in a thread: %d and %d", limit, a, b)
			}
		})
	}
	nobodyLeft(t)
}

// nobodyLeft waits until all threads have ended; the test's time limit is theirs.
func nobodyLeft(t *testing.T) {
	t.Helper()
	limit := time.Now().Add(30 * time.Second)
	for len(marcel.Threads()) > 0 {
		if time.Now().After(limit) {
			_ = marcel.WriteThreads(os.Stderr)
			t.Fatal("there are threads that do not end")
		}
		time.Sleep(time.Millisecond)
	}
}

func Example_pool() {
	double := func(_ context.Context, n int) (int, error) { return 2 * n, nil }
	a, err := poolGoroutines(context.Background(), 2, []int{1, 2, 3}, double)
	fmt.Println(a, err)
	b, err := poolThreads(context.Background(), 2, []int{1, 2, 3}, double)
	fmt.Println(b, err)
	// Output:
	// [2 4 6] <nil>
	// [2 4 6] <nil>
}

func Example_pipeline() {
	fmt.Println(pipelineGoroutines(100), pipelineThreads(100))
	// Output: 165 165
}
