package bench

import (
	"sync"

	"github.com/pm2-go/pm2/marcel"
)

// Programs whose threads pass values on: through mailboxes of ours, or through channels of the
// same capacity.

// ringOurs: a token goes round a ring of threads; each adds one to it. It has been all the
// laps when it comes back to the first.
func ringOurs(members, laps int) func(*watch) error {
	return func(w *watch) error {
		ring := make([]marcel.Mailbox[int], members)
		all := make([]marcel.Thread, 0, members)
		for i := range members - 1 {
			all = append(all, marcel.Spawn(func() {
				for token := range ring[i].All() {
					_ = ring[i+1].Send(token + 1)
				}
				ring[i+1].Close()
			}))
		}
		token, lap := 0, 0
		for ; lap < laps; lap++ {
			_ = ring[0].Send(token)
			token, _ = ring[members-1].Recv()
			token++
		}
		ring[0].Close()
		for _, t := range all {
			_ = t.Join()
		}
		return firstError(expect("the token", token, laps*members))
	}
}

func ringPeer(members, laps int) func(*watch) error {
	return func(w *watch) error {
		ring := make([]chan int, members)
		for i := range ring {
			ring[i] = make(chan int)
		}
		var all sync.WaitGroup
		for i := range members - 1 {
			all.Go(func() {
				for token := range ring[i] {
					ring[i+1] <- token + 1
				}
				close(ring[i+1])
			})
		}
		token, lap := 0, 0
		for ; lap < laps; lap++ {
			ring[0] <- token
			token = <-ring[members-1]
			token++
		}
		close(ring[0])
		all.Wait()
		return firstError(expect("the token", token, laps*members))
	}
}

// pipeCapacity is that of the mailboxes, and channels, between the stages of the pipeline.
const pipeCapacity = 16

// pipelineOurs: the numbers below n, doubled, plus one, summed up: four threads in a row.
func pipelineOurs(n int) func(*watch) error {
	return func(w *watch) error {
		numbers := marcel.NewMailbox[int](pipeCapacity)
		doubles := marcel.NewMailbox[int](pipeCapacity)
		odd := marcel.NewMailbox[int](pipeCapacity)
		sent, sum := 0, 0
		all := []marcel.Thread{
			marcel.Spawn(func() {
				for ; sent < n; sent++ {
					_ = numbers.Send(sent)
				}
				numbers.Close()
			}),
			marcel.Spawn(func() {
				for v := range numbers.All() {
					_ = doubles.Send(2 * v)
				}
				doubles.Close()
			}),
			marcel.Spawn(func() {
				for v := range doubles.All() {
					_ = odd.Send(v + 1)
				}
				odd.Close()
			}),
			marcel.Spawn(func() {
				for v := range odd.All() {
					sum += v
				}
			}),
		}
		for _, t := range all {
			_ = t.Join()
		}
		return firstError(expect("sum of odd numbers", sum, n*n))
	}
}

func pipelinePeer(n int) func(*watch) error {
	return func(w *watch) error {
		numbers := make(chan int, pipeCapacity)
		doubles := make(chan int, pipeCapacity)
		odd := make(chan int, pipeCapacity)
		sent, sum := 0, 0
		var all sync.WaitGroup
		all.Go(func() {
			for ; sent < n; sent++ {
				numbers <- sent
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
		return firstError(expect("sum of odd numbers", sum, n*n))
	}
}

// sieveOurs finds the primes up to limit: a thread for each filters its multiples out of what
// the one before passes on.
func sieveOurs(limit int) func(*watch) error {
	return func(w *watch) error {
		numbers, last := marcel.NewMailbox[int](0), 1
		marcel.Spawn(func() {
			for last < limit {
				last++
				_ = numbers.Send(last)
			}
			numbers.Close()
		})
		found := 0
		for in := numbers; ; found++ {
			prime, err := in.Recv()
			if err != nil {
				break // closed: there are no more
			}
			from, out := in, marcel.NewMailbox[int](0)
			marcel.Spawn(func() {
				for v := range from.All() {
					if v%prime != 0 {
						_ = out.Send(v)
					}
				}
				out.Close()
			})
			in = out
		}
		return firstError(expect("primes", found, primes(limit)))
	}
}

func sievePeer(limit int) func(*watch) error {
	return func(w *watch) error {
		numbers, last := make(chan int), 1
		go func() {
			for last < limit {
				last++
				numbers <- last
			}
			close(numbers)
		}()
		found := 0
		for in := numbers; ; found++ {
			prime, ok := <-in
			if !ok {
				break // there are no more
			}
			from, out := in, make(chan int)
			go func() {
				for v := range from {
					if v%prime != 0 {
						out <- v
					}
				}
				close(out)
			}()
			in = out
		}
		return firstError(expect("primes", found, primes(limit)))
	}
}

// primes is how many there are up to limit.
func primes(limit int) (n int) {
candidates:
	for p := 2; p <= limit; p++ {
		for d := 2; d*d <= p; d++ {
			if p%d == 0 {
				continue candidates
			}
		}
		n++
	}
	return n
}
