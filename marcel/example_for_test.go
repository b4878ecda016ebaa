package marcel_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

func ExampleFor() {
	squares := make([]int, 5)
	marcel.For(len(squares), 2, func(i int) { squares[i] = i * i })
	fmt.Println(squares)
	// Output: [0 1 4 9 16]
}

func ExampleCompute() {
	answer := marcel.Compute(func() int { return 6 * 7 })
	fmt.Println(answer.Join())
	// Output: 42 <nil>
}

func ExampleComputeWith() {
	broken := marcel.ComputeWith(marcel.Attr{Catch: true}, func() int { panic("no answer") })
	_, err := broken.Join()
	fmt.Println(err != nil)
	// Output: true
}

func ExampleFuture() {
	var parts []*marcel.Future[int]
	for i := range 4 {
		parts = append(parts, marcel.Compute(func() int { return i * i }))
	}
	sum := 0
	for _, p := range parts {
		n, _ := p.Join()
		sum += n
	}
	fmt.Println(sum)
	// Output: 14
}

func ExampleWeightedSemaphore() {
	memory := marcel.NewWeightedSemaphore(1 << 30) // bytes that all together may use
	memory.Acquire(600 << 20)
	soon, stop := context.WithTimeout(context.Background(), time.Millisecond)
	defer stop()
	fmt.Println(memory.AcquireContext(soon, 500<<20) != nil)
	memory.Release(600 << 20)
	fmt.Println(memory.TryAcquire(500 << 20))
	// Output:
	// true
	// true
}
