package bench

import (
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/marcel"
)

// stored is the capacity of the mailbox, and of the channel, that stores messages.
const stored = 64

func messageRows() []Experiment {
	return []Experiment{
		{
			Name: "mailbox unbuffered, 1 VP", VPs: 1, P: 1, PeerName: "unbuffered channel, P=1",
			Ours: func(s *stage, n int) error { return mailboxOurs(s, 0, n) },
			Peer: func(w *watch, n int) error { return mailboxPeer(w, 0, n) },
		},
		{
			Name: "mailbox of 64, 1 VP", VPs: 1, P: 1, PeerName: "channel of 64, P=1", Least: stored,
			Ours: func(s *stage, n int) error { return mailboxOurs(s, stored, n) },
			Peer: func(w *watch, n int) error { return mailboxPeer(w, stored, n) },
		},
		{
			Name: "mailbox unbuffered, 2 VPs", VPs: 2, P: 2, PeerName: "unbuffered channel, P=2", Crosses: true,
			Ours: func(s *stage, n int) error { return mailboxOurs(s, 0, n) },
			Peer: func(w *watch, n int) error { return mailboxPeer(w, 0, n) },
		},
		{
			Name: "mailbox of 64, 2 VPs", VPs: 2, P: 2, PeerName: "channel of 64, P=2", Least: stored, Crosses: true,
			Ours: func(s *stage, n int) error { return mailboxOurs(s, stored, n) },
			Peer: func(w *watch, n int) error { return mailboxPeer(w, stored, n) },
		},
		{
			Name: "select of 4, 1 VP", VPs: 1, P: 1, PeerName: "select of 4 channels, P=1", Least: selectCases,
			Ours: selectOurs, Peer: selectPeer,
		},
	}
}

// mailboxOurs has one thread send to another. Each message is one operation. With two VPs the threads may go where they
// like, as goroutines do.
func mailboxOurs(s *stage, capacity, n int) error {
	turns := func(n int) error {
		m := marcel.NewMailbox[int](capacity)
		sum := 0
		to := marcel.Spawn(func() {
			for v := range m.All() {
				sum += v
			}
		})
		from := marcel.Spawn(func() {
			for range n {
				_ = m.Send(1)
			}
			m.Close()
		})
		return firstError(from.Join(), to.Join(), arrived(sum, n))
	}
	return s.watch.timed(n, 1000, turns)
}

func mailboxPeer(w *watch, capacity, n int) error {
	turns := func(n int) error {
		ch := make(chan int, capacity)
		sum := 0
		var wg sync.WaitGroup
		wg.Go(func() {
			for v := range ch {
				sum += v
			}
		})
		wg.Go(func() {
			for range n {
				ch <- 1
			}
			close(ch)
		})
		wg.Wait()
		return arrived(sum, n)
	}
	return w.timed(n, 1000, turns)
}

const selectCases = 4

// selectOurs has one thread wait for any of four mailboxes, into which another thread sends by turns. No mailbox stores
// anything, so each message is a wait.
func selectOurs(s *stage, n int) error {
	turns := func(n int) error {
		var boxes [selectCases]marcel.Mailbox[int]
		sum := 0
		to := marcel.Spawn(func() {
			var in [selectCases]*marcel.Receiver[int]
			for i := range in {
				in[i] = boxes[i].Receiver()
			}
			for range n {
				sum += in[marcel.Select(in[0], in[1], in[2], in[3])].Value
			}
		})
		from := marcel.Spawn(func() {
			for i := range n {
				_ = boxes[i%selectCases].Send(1)
			}
		})
		return firstError(from.Join(), to.Join(), arrived(sum, n))
	}
	return s.watch.timed(n, 1000, turns)
}

func selectPeer(w *watch, n int) error {
	turns := func(n int) error {
		var boxes [selectCases]chan int
		for i := range boxes {
			boxes[i] = make(chan int)
		}
		sum := 0
		var wg sync.WaitGroup
		wg.Go(func() {
			for range n {
				select {
				case v := <-boxes[0]:
					sum += v
				case v := <-boxes[1]:
					sum += v
				case v := <-boxes[2]:
					sum += v
				case v := <-boxes[3]:
					sum += v
				}
			}
		})
		wg.Go(func() {
			for i := range n {
				boxes[i%selectCases] <- 1
			}
		})
		wg.Wait()
		return arrived(sum, n)
	}
	return w.timed(n, 1000, turns)
}

func arrived(got, want int) error {
	if got != want {
		return fmt.Errorf("%d messages of %d arrived", got, want)
	}
	return nil
}
