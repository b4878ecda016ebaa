package roster

import (
	"testing"
	"time"
)

// TestStoppedOverTCP: a process on another host that does not run, and gets more news than its kernel has room for, is not
// lost for that, though its kernel takes nothing for longer than a host may be unreachable.
func TestStoppedOverTCP(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for longer than a host may be unreachable")
	}
	t.Parallel()
	p := newTestJob(t, 3)
	all := p.onHosts([]int{0, 1, 2}, same)
	defer leave(all)
	p.ready(all)
	thaw := freeze(all[2])
	all[0].mu.Lock()
	w := all[0].members[2].wire
	for range 100000 {
		w.send(kindBeat, nil)
	}
	all[0].mu.Unlock()
	time.Sleep(all[0].hostTime() + 2*time.Second)
	if w.Room != nil && w.Room() > 1<<10 {
		t.Errorf("the other side has room for %d bytes more: nothing was tested", w.Room())
	}
	thaw()
	all[2].Announce()
	for _, rank := range []int{0, 1} {
		p.lost(rank, 1, 2, Left, "closed its session")
	}
}
