package meet

import (
	"container/list"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad/internal/limit"
)

// slots are for connections whose processes have not proved yet that they belong to the job. While all are taken, the next
// connection gets the slot of an earlier one (evict). Safe for concurrent use.
type slots struct {
	most  int           // 0: as many as maxSlots says
	freed chan struct{} // one is free; room for one

	mu     sync.Mutex          // guards what follows, and Incoming.slot
	taken  list.List           // by *Incoming, in the order of their arrival
	origin map[arrivesFrom]int // how many of these there are
}

// Incoming is a connection that was accepted.
type Incoming struct {
	acceptor *Acceptor
	conn     net.Conn
	from     arrivesFrom
	came     time.Time
	late     *limit.Limit

	slot *list.Element // nil: it has none any more; guarded by slots.mu
}

// arrivesFrom is where connections come from: an address without its port, at one acceptor.
type arrivesFrom struct {
	acceptor *Acceptor
	address  string
}

func newSlots(most int) *slots {
	return &slots{most: most, freed: make(chan struct{}, 1), origin: map[arrivesFrom]int{}}
}

// allSlots are those of all acceptors of this process.
var allSlots = newSlots(0)

// take gives v a slot; false: all are taken.
func (s *slots) take(v *Incoming) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := s.most
	if most == 0 {
		most = maxSlots()
	}
	if s.taken.Len() >= most {
		return false
	}
	v.slot = s.taken.PushBack(v)
	s.origin[v.from]++
	return true
}

// free frees the slot of v, if it has one.
func (s *slots) free(v *Incoming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(v)
}

// drop is free, under mu.
func (s *slots) drop(v *Incoming) {
	if v.slot == nil {
		return
	}
	s.taken.Remove(v.slot)
	v.slot = nil
	if s.origin[v.from]--; s.origin[v.from] == 0 {
		delete(s.origin, v.from)
	}
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// evict frees the slot of a connection that has had it for that long, and ends its exchange: from where most of the slots
// are taken, of the one that has come first. False: there is none.
func (s *slots) evict(after time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := 0
	for _, n := range s.origin {
		most = max(most, n)
	}
	for e := s.taken.Front(); e != nil; e = e.Next() {
		v := e.Value.(*Incoming)
		if time.Since(v.came) < after {
			return false
		}
		if s.origin[v.from] == most {
			s.drop(v)
			_ = v.conn.SetDeadline(limit.Past)
			return true
		}
	}
	return false
}

// Bounds on how many connections have a slot at once; more wait in the kernel's queue.
const (
	fewestSlots = 64
	mostSlots   = 4096
)

// maxSlots is how many unproven connections there may be at once: those of all acceptors take half of the descriptors
// of the process at most.
func maxSlots() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return fewestSlots
	}
	return int(min(max(l.Cur/2, fewestSlots), mostSlots))
}
