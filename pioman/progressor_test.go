package pioman

import (
	"sync/atomic"
	"testing"

	"github.com/pm2-go/pm2/asm"
)

// A VP that is refused the kernel because the progressor is there sleeps on its own, and
// relies on that one: when it leaves, while something is pending, a VP has to look.
func TestSpareLWPHandsBack(t *testing.T) {
	e := engine(t, Config{})
	s := newByHand(2)
	attach(t, e, s)
	e.AddPending() // a receive that stays pending
	defer e.RemovePending()
	a := e.attached.Load()
	a.progressor.send()
	eventually(t, "the progressor sleeps in the kernel", func() bool {
		return a.progressor.state.Load() == blocking && e.load.view().asleep()
	})
	if (vpSleeper{e}).Sleep(new(atomic.Uint32)) {
		t.Fatal("a VP may sleep in the kernel beside the progressor")
	}
	before := s.kicks.Load()
	a.vps[1].lastIdlePoll.set(asm.Cycles() + asm.ToCycles(int64(forever/4))) // better placed, and no sleeper
	e.sleeper.wake()
	eventually(t, "a VP has to look", func() bool { return s.kicks.Load() > before })
	if vp := s.kicked.Load(); vp != -1 {
		t.Errorf("VP %d was kicked, which may not be the one that sleeps", vp)
	}
	eventually(t, "the progressor waits for orders", func() bool { return e.sleeper.holder.Load() == 0 && a.progressor.state.Load() == off })
	if a.progressor.toKernel.Load() {
		t.Error("it is sent again")
	}
}
