package launch

import (
	"syscall"
	"time"
)

// leastLook is the least time between two looks for stopped ranks.
const leastLook = 20 * time.Millisecond

// endStopped kills ranks that were stopped (SIGSTOP) and would hold the job for ever: when all others have ended, and
// those that are left have been stopped for longer than the heartbeat allows and the grace period. No process waits for
// them: the others have taken them for lost. It leaves processes alone that still run, however long they take. Only looks
// count: while the launcher is stopped itself it cannot know.
func (j *Job) endStopped() {
	pause := max(j.spec.Heartbeat/4, leastLook)
	look := time.NewTicker(pause)
	defer look.Stop()
	for still := time.Duration(0); ; {
		select {
		case <-j.over:
			return
		case <-look.C:
			if rest := j.onlyStopped(); len(rest) == 0 {
				still = 0
			} else if still += pause; still > j.spec.Heartbeat+j.spec.Grace+pause { // the first look counts nothing
				j.killStopped(rest)
			}
		}
	}
}

// onlyStopped returns the children that have not ended if all of them are stopped.
func (j *Job) onlyStopped() (rest []*child) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.children {
		if c == nil || c.dead {
			continue
		}
		if !stopped(c.cmd.Process.Pid) {
			return nil
		}
		rest = append(rest, c)
	}
	return rest
}

// isStopped takes note of a child that is stopped while the job is ended: others have failed because it does not answer.
// Under Job.mu.
func (c *child) isStopped() {
	if c != nil && !c.dead && c.remote == nil && stopped(c.cmd.Process.Pid) {
		c.stopped = true
	}
}

func (j *Job) killStopped(rest []*child) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range rest {
		if !c.dead {
			c.stopped = true
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // died a moment ago: no harm
		}
	}
}
