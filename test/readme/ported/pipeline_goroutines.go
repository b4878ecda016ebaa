package ported

// pipelineGoroutines counts from 1, squares, and adds up what is odd until the sum passes limit: three stages, of which
// the last one leaves early.
func pipelineGoroutines(limit int) (sum int) {
	done := make(chan struct{})
	defer close(done) // tells all stages
	numbers, squares := make(chan int, 8), make(chan int, 8)

	go func() {
		defer close(numbers)
		for n := 1; ; n++ {
			select {
			case numbers <- n:
			case <-done:
				return
			}
		}
	}()

	go func() {
		defer close(squares)
		for n := range numbers {
			select {
			case squares <- n * n:
			case <-done:
				return
			}
		}
	}()

	for s := range squares {
		if s%2 == 1 {
			sum += s
		}
		if sum > limit {
			break
		}
	}
	return sum
}
