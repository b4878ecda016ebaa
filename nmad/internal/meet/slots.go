package meet

import (
	"cmp"
	"net"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// slots bound how many connections may be in an exchange that has proved nothing yet. Safe for concurrent use.
type slots struct {
	max   int           // 0: maxSlots decides
	freed chan struct{} // receives when a slot becomes free; room for one

	mu    sync.Mutex  // guards taken
	taken []*Incoming // the connections that have a slot, in the order of their arrival
}

// Incoming is an accepted connection while its exchange is under way.
type Incoming struct {
	acceptor *Acceptor
	conn     net.Conn
	from     origin
	since    time.Time    // when it was accepted
	limit    *limit.Limit // of the exchange
	release  func() bool  // detaches the connection from Acceptor.Stop; false: Stop has ended the exchange
}

// origin is where a connection comes from: an address without its port, at one acceptor.
type origin struct {
	acceptor *Acceptor
	address  string
}

func newSlots(most int) *slots { return &slots{max: most, freed: make(chan struct{}, 1)} }

// allSlots are those of all acceptors of this process.
var allSlots = newSlots(0)

// take gives v a slot. It returns false if all are taken.
func (s *slots) take(v *Incoming) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.taken) >= cmp.Or(s.max, maxSlots()) {
		return false
	}
	s.taken = append(s.taken, v)
	return true
}

// free frees the slot of v, if it has one.
func (s *slots) free(v *Incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freeAt(slices.Index(s.taken, v))
}

// freeAt frees the slot taken[i]; with i below 0 it does nothing. The caller holds mu.
func (s *slots) freeAt(i int) {
	if i < 0 {
		return
	}
	s.taken = slices.Delete(s.taken, i, i+1)
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// evict ends one exchange and frees its slot: of the origin with the most slots, the oldest connection. It returns
// false if that one has not had its slot for as long as after, or if no slot is taken.
func (s *slots) evict(after time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	held, most := map[origin]int{}, 0
	for _, v := range s.taken {
		held[v.from]++
		most = max(most, held[v.from])
	}
	i := slices.IndexFunc(s.taken, func(v *Incoming) bool { return held[v.from] == most })
	if i < 0 || time.Since(s.taken[i].since) < after {
		return false
	}
	_ = s.taken[i].conn.SetDeadline(limit.Past)
	s.freeAt(i)
	return true
}

// maxSlots returns how many connections of this process may have a slot at once: half of its limit of descriptors, but
// at least 64 and at most 4096. More wait in the kernel's queue.
func maxSlots() int {
	var l unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &l) // without an answer l is 0
	return int(min(max(l.Cur/2, 64), 4096))
}
