package sched

import "sync"

// retire ends all runners of a scheduler whose threads and LWPs have ended.
//
// A runner that returns resumes whoever is parked in the slot that was made
// with it, on the spot. All runners are idle, and each slot holds one of them;
// so who resumes whom is a permutation. A goroutine of ours takes the place of
// a runner, which starts the chain of that cycle: each runner resumes the next
// one, which returns in its turn, until the last one resumes ours. If a runner
// ends by Goexit (a thread has called it once), iter.Pull passes that on along
// the chain, which is why each chain starts in a goroutine of its own.
func (s *Scheduler) retire() {
	var all []*co
	nowhere := &lwp{op: opGone, vp: &vp{}}
	for _, v := range s.vps {
		all = append(append(all, v.pool.idle...), v.worn...)
		v.pool.idle, v.worn = nil, nil
	}
	for _, c := range all {
		c.quit, c.l = true, nowhere
		unregister(c)
	}
	for _, c := range all {
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			me := &co{}
			t := c.s
			me.s = t
			if t.inNext = !t.inNext; t.inNext {
				t.next()
			} else {
				t.yield(struct{}{})
			}
		}()
		wg.Wait()
	}
}
