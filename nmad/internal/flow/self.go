package flow

import "fmt"

// The gate to the own rank has no link: sending is matching. A send whose
// receive is posted copies straight into its buffer; one that comes early is
// copied aside if it is short and the window allows, and waits for its receive
// if not, which is what a rendezvous is when both are in one memory.
//
// A driver "self", with a link whose two ends are in one gate, would have to pack messages
// into packets, count credit and announce, for a copy that takes less; and the receiver's half
// of the gate would wait for the sender's half of the same lock. Rejected for that. So
// there is nothing to poll, nothing to arm and nothing that can be lost; starting never
// waits for room, hence a thread that sends to itself before it receives gets on with any
// size. What the conformance suite asks of links (order, sizes, no allocation) the tests of
// sessions ask of this gate as of any other: they run to the own rank as well.

// SelfEager is the longest message to ourselves that is copied aside, in bytes.
const SelfEager = 16 << 10

func (f *Flow) sendToSelf(r *Request) {
	to := f.Match(r.Entry.Tag)
	if to != nil && !to.Chooses {
		f.copyToSelf(r, to)
		return
	}
	size := r.Data.Size
	var m *Message
	if size <= SelfEager && f.rx.taken+cost(size) <= f.rx.window && !r.Sync {
		m = f.rx.pool.get(size)
		r.short = r.Data.read(m.body) || r.short
		m.Tag, m.size, m.eager = r.Entry.Tag, uint64(size), true
		f.rx.taken += cost(size)
		f.Stats.BytesSent += uint64(size)
		f.Stats.UnexpectedBytes += uint64(size)
		f.Stats.UnexpectedPeak = max(f.Stats.UnexpectedPeak, f.Stats.UnexpectedBytes)
		f.sent(r)
	} else {
		if f.tx.sends.used >= MaxCookies {
			f.finish(r, fmt.Errorf("nmad: send to the own rank: %w: %d wait already", ErrConfig, MaxCookies))
			return
		}
		f.Stats.Rendezvous++
		m = f.rx.pool.get(0)
		m.Tag, m.size, m.eager, m.own = r.Entry.Tag, uint64(size), false, true
		m.cookie = f.tx.sends.put(r)
		r.Stage = Announced
		f.Count(r)
	}
	if to != nil {
		f.choose(to, m)
	} else {
		f.keep(m)
	}
}

// copyToSelf moves a message from its send to its receive and ends both.
func (f *Flow) copyToSelf(s, r *Request) {
	r.Size = uint64(s.Data.Size)
	var lacks bool
	r.N, lacks, r.short = r.Data.from(&s.Data)
	s.short = s.short || lacks
	f.Stats.BytesReceived += uint64(r.N)
	if r.Err = r.shortage(); r.Err == nil && s.Data.Size > r.Data.Size {
		r.Err = f.truncated(r, r.Size)
	}
	s.N = s.Data.Size
	f.Stats.BytesSent += uint64(s.N)
	f.finish(s, s.shortage())
	f.finish(r, r.Err)
}

// FailSelf ends the sends to ourselves that wait for a receive.
func (f *Flow) FailSelf(err error) {
	f.rx.Sift(func(m *Message) bool {
		f.rx.pool.put(m)
		return false
	})
	from := 0
	for s := f.tx.sends.takeAny(&from); s != nil; s = f.tx.sends.takeAny(&from) {
		f.finish(s, err)
	}
}
