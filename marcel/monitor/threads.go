package monitor

import "github.com/pm2-go/pm2/sched"

// Threads is a list of a scheduler's threads, the oldest ones first.
type Threads struct {
	Threads []Thread `json:"threads"`
	Alive   int      `json:"alive"` // how many there are, those that the list has no room for included
}

// Thread is what the list says of one: see sched.ThreadInfo, whose words these are.
type Thread struct {
	ID    uint64 `json:"id"`
	Name  string `json:"name,omitempty"`
	State string `json:"state"`
	In    string `json:"in,omitempty"` // what it is blocked in
	On    uint64 `json:"on,omitempty"` // which object: the same for all that wait for it
	VP    int    `json:"vp"`

	Work *sched.ThreadWork `json:"work,omitempty"` // nil: not counted, see observe.CountThreads
}

// MostThreads is the longest list that a server sends: a client reads all of it into memory.
const MostThreads = 1000

// List lists the threads of s, nil being a scheduler without any, as a server does: MostThreads
// at most. It takes as long as sched.Scheduler.Threads and does not stop them.
func List(s *sched.Scheduler) (l Threads) {
	if s == nil {
		return l
	}
	all := s.Threads()
	l.Alive = len(all)
	l.Threads = make([]Thread, min(len(all), MostThreads))
	for i := range l.Threads {
		t := &all[i]
		l.Threads[i] = Thread{ID: t.Thread.ID(), Name: t.Name, State: t.State.String(), On: uint64(t.On), VP: t.VP}
		if t.Work.Switches > 0 {
			l.Threads[i].Work = &t.Work
		}
		if t.State == sched.StateBlocked {
			l.Threads[i].In = t.In.String()
		}
	}
	return l
}
