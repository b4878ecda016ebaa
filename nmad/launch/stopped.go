package launch

import (
	"syscall"
	"time"
)

// minLookPause is the least time between two looks for stopped ranks.
const minLookPause = 20 * time.Millisecond

// endStopped kills ranks that were stopped (SIGSTOP) and would keep the job from ending: when all others have
// ended, and the rest has been stopped for longer than the heartbeat and the grace period allow. The others have
// taken these ranks for lost, so no process waits for them. Ranks that still run are left alone, however long they
// take. endStopped counts its own looks, because it cannot know how long a rank was stopped while the launcher was
// stopped itself.
func (j *Job) endStopped() {
	pause := max(j.spec.Heartbeat/4, minLookPause)
	look := time.NewTicker(pause)
	defer look.Stop()
	for still := time.Duration(0); ; {
		select {
		case <-j.done:
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

// onlyStopped returns the children that have not ended, if all of these are stopped.
func (j *Job) onlyStopped() (rest []*child) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.children {
		if c == nil || c.hasDied {
			continue
		}
		if !isStopped(c.cmd.Process.Pid) {
			return nil
		}
		rest = append(rest, c)
	}
	return rest
}

// noteStopped notes that a child is stopped when the job is being ended: others have failed because it does not
// answer. The caller holds Job.mu.
func (c *child) noteStopped() {
	if c != nil && !c.hasDied && c.remote == nil && isStopped(c.cmd.Process.Pid) {
		c.wasStopped = true
	}
}

// killStopped kills children that are stopped.
func (j *Job) killStopped(rest []*child) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range rest {
		if !c.hasDied {
			c.wasStopped = true
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // died a moment ago: no harm
		}
	}
}
