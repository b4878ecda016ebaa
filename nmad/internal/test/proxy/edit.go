package proxy

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Alteration is what a proxy has done to what went through it, once.
type Alteration struct {
	Connection int            // by its number, from 1 on
	Down       bool           // to what the listener sent
	What       string         // the kind of an edit; quiet or last, which are cuts; strangers, play, rights, scribble
	At         uint64         // how many bytes had gone by in that direction
	Proven     bool           // that side had said all that it says before the other one believes it
	Places     map[string]int // of the bytes that were altered, how many lay where: see the package
}

// editor does the edits to what goes one way through a connection.
//
//	original bytes ── tracker: what are they ── edits that begin here ── out
//	                                            swap: held ───────────────'
type editor struct {
	edits []Edit // those that have not begun
	dice  *rand.Rand
	track tracker
	note  func(*Alteration) // hears of each edit once it has begun, and once more when it has gone on

	pos     uint64 // original bytes that have gone by
	history []byte // the last of them, at most maxEdit
	out     []byte

	flip, drop *run
	swap       *run
	held       []byte
}

// run is an edit under way.
type run struct {
	left int // bytes that are still to be altered
	half int // swap: once so many are left those that were held follow the others
	log  *Alteration
}

// What an edit asks of the connection.
type verdict struct {
	cut  bool
	end  bool
	wait time.Duration
}

// edit takes b in and says how many bytes of it have been dealt with: all of them unless the connection is asked for
// something at that place, once what is in out has gone on.
func (e *editor) edit(b []byte) (n int, v verdict) {
	for n < len(b) {
		if v = e.begin(); v != (verdict{}) {
			return n, v
		}
		k := e.step(len(b) - n)
		e.take(b[n : n+k])
		n += k
	}
	return n, verdict{}
}

// begin starts the edits whose place is here.
func (e *editor) begin() (v verdict) {
	for i := 0; i < len(e.edits); {
		x := e.edits[i]
		if !e.here(x) {
			i++
			continue
		}
		e.edits = slices.Delete(e.edits, i, i+1)
		log := &Alteration{Down: x.Down, What: x.Kind, At: e.pos, Proven: e.track.proven, Places: map[string]int{}}
		r := &run{left: x.Size, log: log}
		switch x.Kind {
		case "flip":
			e.flip = r
		case "drop":
			e.drop = r
		case "swap":
			if e.swap != nil {
				continue // one at a time
			}
			r.left, r.half = 2*x.Size, x.Size
			e.swap = r
		case "repeat":
			again := e.history[len(e.history)-min(len(e.history), x.Size):]
			e.out = append(e.out, again...)
			log.Places[e.track.where()] += len(again)
		case "invent":
			e.out = append(e.out, invent(e.dice, x.Size)...)
			log.Places[e.track.where()] += x.Size
		case "cut":
			log.Places[e.track.where()]++
			v.cut = true
		case "end":
			log.Places[e.track.where()]++
			v.end = true
		case "wait":
			v.wait = x.For
			log = nil
		}
		if log != nil {
			e.note(log)
		}
		if v != (verdict{}) {
			return v
		}
	}
	return v
}

func (e *editor) here(x Edit) bool {
	if x.Packet != 0 {
		return e.track.packet == x.Packet && e.track.within == x.At-1
	}
	return e.pos == x.At-1
}

// step says how many of the next n bytes can be dealt with at once: up to where an edit may begin or end, or another
// place begins.
func (e *editor) step(n int) int {
	n = e.track.run(n)
	if e.flip != nil || e.drop != nil || e.swap != nil {
		return 1
	}
	for _, x := range e.edits {
		switch {
		case x.Packet == 0 && x.At-1 > e.pos:
			n = int(min(uint64(n), x.At-1-e.pos))
		case x.Packet != 0 && x.Packet == e.track.packet && x.At-1 > e.track.within:
			n = int(min(uint64(n), x.At-1-e.track.within))
		}
	}
	return n
}

// take deals with bytes that lie in one place, of which all or none are altered.
func (e *editor) take(b []byte) {
	where := e.track.where()
	e.track.pass(b)
	e.pos += uint64(len(b))
	e.remember(b)
	at := len(e.out)
	e.out = append(e.out, b...)
	if e.flip != nil {
		e.out[at] ^= 1 << e.dice.IntN(8)
		e.flip = e.flip.on(where)
	}
	if e.drop != nil {
		e.out = e.out[:at]
		e.drop = e.drop.on(where)
	}
	if s := e.swap; s != nil {
		if s.left > s.half {
			e.held = append(e.held, e.out[at:]...)
			e.out = e.out[:at]
		}
		if e.swap = s.on(where); e.swap == nil {
			e.release()
		}
	}
}

// release lets go what a swap has kept.
func (e *editor) release() {
	e.out = append(e.out, e.held...)
	e.held = e.held[:0]
}

// on counts a byte that was altered; nil: it was the last one.
func (r *run) on(where string) *run {
	r.log.Places[where]++
	if r.left--; r.left == 0 {
		return nil
	}
	return r
}

func (e *editor) remember(b []byte) {
	if len(b) >= maxEdit {
		e.history = append(e.history[:0], b[len(b)-maxEdit:]...)
		return
	}
	if over := len(e.history) + len(b) - maxEdit; over > 0 {
		e.history = append(e.history[:0], e.history[over:]...)
	}
	e.history = append(e.history, b...)
}

// invent makes bytes that no side has sent: any, or such as look like packets, frames of an exchange, or frames of a
// control connection.
func invent(d *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+driver.HeaderSize)
	style := d.IntN(4)
	for len(b) < n {
		switch style {
		case 0:
			b = append(b, byte(d.Uint64()))
		case 1:
			h := driver.Header{
				Kind: uint8(d.IntN(14)), Body: uint32(d.Uint64() >> (32 + d.IntN(32))), Tag: d.Uint64() >> d.IntN(64),
				Size: d.Uint64() >> d.IntN(64), Cookie: uint32(d.Uint64() >> (32 + d.IntN(32))), Seq: uint32(d.IntN(4)),
			}
			if d.IntN(2) == 0 {
				h.Body = 0
			}
			b = append(b, make([]byte, driver.HeaderSize)...)
			h.Put(b[len(b)-driver.HeaderSize:])
		case 2:
			b = append(b, byte(0xA1+d.IntN(3)))
			b = binary.LittleEndian.AppendUint16(b, uint16(d.Uint64()>>(48+d.IntN(16))))
			b = append(b, 'p', 'm', '2', 1, byte(d.IntN(5)), 0)
		case 3:
			b = append(b, 'P', 'M', '2', 'C', byte(d.IntN(8)), 0, byte(d.IntN(8)), 0)
			b = binary.LittleEndian.AppendUint32(b, uint32(d.Uint64()>>(32+d.IntN(32))))
			b = append(b, byte(d.IntN(10)), 0, 0, 0)
		}
	}
	return b[:n]
}
