package simnet

import "github.com/pm2-go/pm2/nmad/driver"

// Hold refuses room to this end's Send and Push, or grants it again.
func (l *Link) Hold(on bool) {
	defer l.lock()()
	l.out().held = on
	if !on {
		l.flush()
		l.ring(true)
	}
}

// Delay keeps the packets that this end sends from now on out of the peer's sight until Deliver, or stops doing so.
func (l *Link) Delay(on bool) {
	defer l.lock()()
	l.out().delayed = on
	l.arrive(l.out())
}

// Deliver lets n delayed packets of this end arrive.
func (l *Link) Deliver(n int) {
	defer l.lock()()
	w := l.out()
	w.visible = min(w.visible+n, w.count()-w.excess)
	l.peer().ring(false)
}

// Buffer makes Send take one packet more than fits, as drivers over streams do.
func (l *Link) Buffer(on bool) {
	defer l.lock()()
	l.out().buffered = on
}

// Tick lets time pass on a connection with a Rate: what arrives in one tick on its large track, in either direction,
// becomes visible.
func (l *Link) Tick() {
	defer l.lock()()
	for side := range l.c.ways {
		w := &l.c.ways[side]
		n := min(l.c.opt.Rate, len(w.large)-w.start-w.arrived)
		if w.arrived += n; n > 0 {
			l.c.ends[1-side].ring(false)
		}
	}
}

// Break makes every call of both ends fail with err once what has arrived was received.
func (l *Link) Break(err error) {
	defer l.lock()()
	l.c.ways[0].broken, l.c.ways[1].broken = err, err
	l.ring(false)
	l.peer().ring(false)
}

// Inject puts a packet into the small track as if this end had sent it, whatever the measures.
func (l *Link) Inject(h driver.Header, body []byte) {
	defer l.lock()()
	w := l.out()
	w.compact()
	w.packets = append(w.packets, packet{h, append([]byte(nil), body...)})
	w.visible = w.count() - w.excess
	l.peer().ring(false)
}

// Armed reports whether this end is armed, and whether for room too.
func (l *Link) Armed() (armed, room bool) {
	defer l.lock()()
	return l.armed, l.armedRoom
}

// Woken reports whether a sleeper at this end would have been woken.
func (l *Link) Woken() bool {
	defer l.lock()()
	return l.woken
}

// Closed reports whether this end was closed.
func (l *Link) Closed() bool {
	defer l.lock()()
	return l.out().closed
}
