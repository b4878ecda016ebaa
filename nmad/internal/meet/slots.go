package meet

import (
	"container/list"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// slots bound how many connections may be in an exchange without having proved that they belong to the job. Safe
// for concurrent use.
type slots struct {
	max   int           // 0: maxSlots decides
	freed chan struct{} // receives when a slot becomes free; room for one

	mu       sync.Mutex     // guards what follows, and Incoming.slot
	taken    list.List      // connections (*Incoming), in the order of their arrival
	byOrigin map[origin]int // how many of these come from each
}

// Incoming is an accepted connection while its exchange is under way.
type Incoming struct {
	acceptor *Acceptor
	conn     net.Conn
	from     origin
	since    time.Time    // when it was accepted
	limit    *limit.Limit // of the hello, then of the rest of the exchange

	slot *list.Element // nil: it has none any more; guarded by slots.mu
}

// origin is where a connection comes from: an address without its port, at one acceptor.
type origin struct {
	acceptor *Acceptor
	address  string
}

func newSlots(most int) *slots {
	return &slots{max: most, freed: make(chan struct{}, 1), byOrigin: map[origin]int{}}
}

// allSlots are those of all acceptors of this process.
var allSlots = newSlots(0)

// take gives v a slot. False: all are taken.
func (s *slots) take(v *Incoming) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := s.max
	if most == 0 {
		most = maxSlots()
	}
	if s.taken.Len() >= most {
		return false
	}
	v.slot = s.taken.PushBack(v)
	s.byOrigin[v.from]++
	return true
}

// free frees the slot of v, if it has one.
func (s *slots) free(v *Incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(v)
}

// drop is free for a caller that holds mu.
func (s *slots) drop(v *Incoming) {
	if v.slot == nil {
		return
	}
	s.taken.Remove(v.slot)
	v.slot = nil
	if s.byOrigin[v.from]--; s.byOrigin[v.from] == 0 {
		delete(s.byOrigin, v.from)
	}
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// evict ends the exchange of one connection and frees its slot, if one has had its slot for that long: of the
// origin with the most slots, the oldest connection. False: there is none.
func (s *slots) evict(after time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := 0
	for _, n := range s.byOrigin {
		most = max(most, n)
	}
	for e := s.taken.Front(); e != nil; e = e.Next() {
		v := e.Value.(*Incoming)
		if time.Since(v.since) < after {
			return false
		}
		if s.byOrigin[v.from] == most {
			s.drop(v)
			_ = v.conn.SetDeadline(limit.Past)
			return true
		}
	}
	return false
}

// Bounds on how many connections have a slot at once; more wait in the kernel's queue.
const (
	minSlots = 64
	slotsCap = 4096
)

// maxSlots returns how many unproven connections this process may have at once: half of its limit of descriptors,
// within bounds.
func maxSlots() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return minSlots
	}
	return int(min(max(l.Cur/2, minSlots), slotsCap))
}
