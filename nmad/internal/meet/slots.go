package meet

import (
	"sync"

	"golang.org/x/sys/unix"
)

// allSlots is what the acceptors of a process share: together they have maxSlots() slots. Its lock is taken under that of
// an acceptor.
var allSlots = struct {
	sync.Mutex
	taken int
	by    map[*Acceptor]int // acceptors with unproven connections, and how many each has
}{by: map[*Acceptor]int{}}

// takeSlot takes a slot for a connection of d; false: all are taken.
func takeSlot(d *Acceptor, seats int) bool {
	allSlots.Lock()
	defer allSlots.Unlock()
	if allSlots.taken >= seats {
		return false
	}
	allSlots.taken++
	allSlots.by[d]++
	return true
}

// giveSlot gives one back.
func giveSlot(d *Acceptor) {
	allSlots.Lock()
	defer allSlots.Unlock()
	allSlots.taken--
	if allSlots.by[d]--; allSlots.by[d] == 0 {
		delete(allSlots.by, d)
	}
}

// mostCrowded is the acceptor that has the most unproven connections, d if there are none.
func mostCrowded(d *Acceptor) *Acceptor {
	allSlots.Lock()
	defer allSlots.Unlock()
	most := allSlots.by[d]
	for other, n := range allSlots.by {
		if n > most {
			d, most = other, n
		}
	}
	return d
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
