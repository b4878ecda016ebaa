package faults

import (
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// What nmad and its layers wait for at most besides what a round decides; docs/bounds.md explains them.
const (
	evict  = time.Second            // before a process is ended that may still write into a buffer (nmad/transfer.go)
	leave  = time.Second            // for the leave of the control connection (rostrap)
	debris = 500 * time.Millisecond // for what lies in links that are being made when the news of a death comes (nmad/session_close.go)
	silent = 15 * time.Second       // before a link notices a host that is gone, without any news (nmad/driver/tcp)
)

// bound is what requests of a survivor that have to do with the victim take at most, from the fault on, or from their
// start if that comes later, in the absence of any slack.
type bound struct {
	recv, send, probe time.Duration
}

// bounds is the table: by fault.
func (p *plan) bounds() bound {
	news := p.Heartbeat * 6 / 5 // until a silence is noticed
	all := func(d time.Duration) bound { return bound{d, d, d} }
	switch p.Kind {
	case kill:
		return all(debris)
	case stop, freeze, outage, unplug:
		if p.Link != nmad.LinkAll {
			news += debris
		}
		return bound{recv: news + evict, send: news + evict, probe: news}
	case memory, cgroup:
		return all(p.Timeout + news + evict) // when it dies, and whether, is up to it
	case files, hoard:
		return all(2*p.Timeout + news + evict) // a link that cannot be made is given up by both sides, and then the victim leaves
	case cut:
		return all(p.Timeout + news + evict) // each link breaks at a time of its own
	}
	return all(0)
}

// open is what Open takes at most, from the fault on, if that comes while the job starts.
func (p *plan) open() time.Duration { return p.Timeout + leave }

// close is what Close takes at most.
func (p *plan) close() time.Duration { return 2*p.Linger + leave + evict }

// after is what the victim's requests take at most once it can run again and is not cut off any more.
func (p *plan) after() time.Duration {
	if p.Kind == outage {
		return silent + p.Heartbeat*6/5 + evict // only the links tell it of the others
	}
	return p.Heartbeat*6/5 + evict + debris
}

// stretched is a bound as this machine is held to it.
func stretched(d time.Duration) time.Duration {
	return time.Duration(float64(d)**slack) + time.Second
}
