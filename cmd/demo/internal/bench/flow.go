package bench

import (
	"sync"

	"github.com/pm2-go/pm2/marcel"
)

// Programs whose threads pass values on: through mailboxes of ours, or through channels of the same capacity.

const ringMembers = 100

// ringOurs sends a token n laps round a ring of threads, each of which adds one to it.
func ringOurs(_ *watch, n int) (token int, err error) {
	ring := make([]marcel.Mailbox[int], ringMembers)
	var all threadTeam
	for i := range ringMembers - 1 {
		all.Go(func() {
			for token := range ring[i].All() {
				_ = ring[i+1].Send(token + 1)
			}
			ring[i+1].Close()
		})
	}
	for range n {
		_ = ring[0].Send(token)
		token, _ = ring[ringMembers-1].Recv()
		token++
	}
	ring[0].Close()
	all.Wait()
	return token, nil
}

func ringPeer(_ *watch, n int) (token int, err error) {
	ring := make([]chan int, ringMembers)
	for i := range ring {
		ring[i] = make(chan int)
	}
	var all sync.WaitGroup
	for i := range ringMembers - 1 {
		all.Go(func() {
			for token := range ring[i] {
				ring[i+1] <- token + 1
			}
			close(ring[i+1])
		})
	}
	for range n {
		ring[0] <- token
		token = <-ring[ringMembers-1]
		token++
	}
	close(ring[0])
	all.Wait()
	return token, nil
}

// pipeCapacity is that of the mailboxes, and channels, between the stages of the pipeline.
const pipeCapacity = 16

// pipelineOurs has four threads in a row make the numbers below n, double them, add one, and sum them up.
func pipelineOurs(_ *watch, n int) (sum int, err error) {
	numbers := marcel.NewMailbox[int](pipeCapacity)
	doubles := marcel.NewMailbox[int](pipeCapacity)
	odd := marcel.NewMailbox[int](pipeCapacity)
	var all threadTeam
	all.Go(func() {
		for v := range n {
			_ = numbers.Send(v)
		}
		numbers.Close()
	})
	all.Go(func() {
		for v := range numbers.All() {
			_ = doubles.Send(2 * v)
		}
		doubles.Close()
	})
	all.Go(func() {
		for v := range doubles.All() {
			_ = odd.Send(v + 1)
		}
		odd.Close()
	})
	all.Go(func() {
		for v := range odd.All() {
			sum += v
		}
	})
	all.Wait()
	return sum, nil
}

func pipelinePeer(_ *watch, n int) (sum int, err error) {
	numbers := make(chan int, pipeCapacity)
	doubles := make(chan int, pipeCapacity)
	odd := make(chan int, pipeCapacity)
	var all sync.WaitGroup
	all.Go(func() {
		for v := range n {
			numbers <- v
		}
		close(numbers)
	})
	all.Go(func() {
		for v := range numbers {
			doubles <- 2 * v
		}
		close(doubles)
	})
	all.Go(func() {
		for v := range doubles {
			odd <- v + 1
		}
		close(odd)
	})
	all.Go(func() {
		for v := range odd {
			sum += v
		}
	})
	all.Wait()
	return sum, nil
}

// sieveOurs counts the primes up to n: a thread for each filters its multiples out of what the one before passes on.
func sieveOurs(_ *watch, n int) (found int, err error) {
	in := marcel.NewMailbox[int](0)
	var all threadTeam
	all.Go(func() {
		for v := 2; v <= n; v++ {
			_ = in.Send(v)
		}
		in.Close()
	})
	for from := in; ; found++ {
		prime, err := from.Recv()
		if err != nil {
			break // closed: there are no more
		}
		numbers, out := from, marcel.NewMailbox[int](0)
		all.Go(func() {
			for v := range numbers.All() {
				if v%prime != 0 {
					_ = out.Send(v)
				}
			}
			out.Close()
		})
		from = out
	}
	all.Wait()
	return found, nil
}

func sievePeer(_ *watch, n int) (found int, err error) {
	in := make(chan int)
	var all sync.WaitGroup
	all.Go(func() {
		for v := 2; v <= n; v++ {
			in <- v
		}
		close(in)
	})
	for from := in; ; found++ {
		prime, ok := <-from
		if !ok {
			break // there are no more
		}
		numbers, out := from, make(chan int)
		all.Go(func() {
			for v := range numbers {
				if v%prime != 0 {
					out <- v
				}
			}
			close(out)
		})
		from = out
	}
	all.Wait()
	return found, nil
}

// primes is how many there are up to n.
func primes(n int) (found int) {
candidates:
	for p := 2; p <= n; p++ {
		for d := 2; d*d <= p; d++ {
			if p%d == 0 {
				continue candidates
			}
		}
		found++
	}
	return found
}
