package flow

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/match"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// world is two flows, a and b, and what is between them, which moves when a test says so.
type world struct {
	sides [2]*side
	rails int
}

// side is one flow and what it has sent.
type side struct {
	f       Flow
	packets []packet
	streams [][]byte // by rail: bytes put on its large track that the peer has not taken off
	sends   []*Request
	sent    map[*Request][]byte // what they are of
	recvs   []*Request
	clogged bool     // what was sent last stays in the link's buffer
	blind   bool     // the other side's memory cannot be read
	hidden  bool     // this side has withdrawn what it has exposed
	room    int      // packets that may leave; below 0: all
	left    []packet // of these, what has left
	ended   error    // what a call has said is wrong
}

type packet struct {
	head driver.Header
	body []byte
}

// options are what a world is made of; zero fields get defaults.
type options struct {
	window, records, room, eager, rails int
	buffered, syscalls, exposes         bool
	strategy                            strategy.Strategy
}

func newWorld(o options) *world {
	or := func(n, other int) int {
		if n == 0 {
			return other
		}
		return n
	}
	w := &world{rails: or(o.rails, 1)}
	window, records := int64(or(o.window, 1<<20)), or(o.records, 1000)
	for i := range w.sides {
		s := &side{streams: make([][]byte, w.rails), sent: map[*Request][]byte{}}
		s.f.Init(i, 1-i, w.rails, Bounds{Window: window, Records: records, PeerWindow: window, PeerRecords: records})
		s.f.Join(DefaultContext, match.NewAnyList[Request](match.All(2), i, &sync.Mutex{}))
		s.f.Bind(driver.Caps{MaxBody: or(o.room, 64), Buffered: o.buffered, Syscalls: o.syscalls, Exposes: o.exposes, Fetches: o.exposes}, o.eager)
		if o.strategy != nil {
			s.f.Strategy = o.strategy
		}
		w.sides[i] = s
	}
	return w
}

// data is a message that differs from every other one.
func data(size, seed int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + seed*31 + i>>8)
	}
	return b
}

func request(tag uint64, buf []byte) *Request {
	r := &Request{Extras: &Extras{}, Context: DefaultContext}
	r.Entry.Tag, r.Entry.Value = tag, r
	r.Data.Set(buf)
	return r
}

func (sd *side) send(r *Request) {
	r.Kind = RequestSend
	sd.sends = append(sd.sends, r)
	sd.sent[r] = append(bytes.Clone(r.Data.Buf()), bytes.Join(r.Extras.Parts, nil)...)
	sd.f.Send(r)
}

// post begins a receive with that mask.
func (sd *side) post(r *Request, mask uint64) {
	r.Kind, r.Entry.Age = RequestRecv, sd.f.rx.AnyList().Stamp()
	if mask != match.Exact {
		r.UsesExtras = true
		r.Extras.Wild.Set(&r.Entry, mask, false)
	}
	sd.recvs = append(sd.recvs, r)
	if !sd.f.Receive(r) {
		sd.f.Post(r)
	}
}

// leave has up to n packets leave (below 0: all), and refuses the next one. It gives those that have left.
func (sd *side) leave(n int) (left []packet) {
	sd.room, sd.left = n, nil
	if err := sd.f.Drain(sd); err != nil {
		panic(err) // of Emit and Flush below, which have none
	}
	sd.packets = append(sd.packets, sd.left...)
	return sd.left
}

func (sd *side) Emit(p *Packet, _ bool) (bool, error) {
	if sd.room == 0 {
		return false, nil
	}
	sd.room--
	sd.left = append(sd.left, packet{p.Head, append(bytes.Clone(p.Body), bytes.Join(p.Parts, nil)...)})
	return true, nil
}

func (sd *side) Flush() (bool, error)                        { return !sd.clogged, nil }
func (sd *side) View([]byte, uint64, uint64) ([]byte, error) { return nil, nil }
func (sd *side) Begin() uint64                               { return sd.f.rx.AnyList().Now() }

// take has the other side take in the oldest packet of s. False: there is none.
func (sd *side) take(other *side) bool {
	if len(sd.packets) == 0 || other.ended != nil {
		return false
	}
	p := sd.packets[0]
	sd.packets = sd.packets[1:]
	other.endOn(other.f.Packet(&p.head, p.body, other))
	if other.f.SearchDue() {
		other.f.Search(other.f.rx.AnyList().Now())
	}
	return true
}

// endOn ends the flow if err is an error of it.
func (sd *side) endOn(err error) {
	if err != nil && sd.ended == nil {
		sd.ended = err
		sd.f.End(err)
	}
}

// carry moves up to n bytes over a rail, out of s, or into it from the other side, and says how many that was.
func (sd *side) carry(other *side, rail int, dir Direction, n int) int {
	x := &sd.f.Rails[rail].Streams[dir]
	if x.Empty() {
		return 0
	}
	x.Reserve()
	moved, err := x.Copy(func(b []byte) (int, error) {
		k := min(len(b), n)
		if dir == Push {
			sd.streams[rail] = append(sd.streams[rail], b[:k]...)
		} else {
			k = copy(b[:k], other.streams[rail])
			other.streams[rail] = other.streams[rail][k:]
		}
		n -= k
		return k, nil
	}, func(b []byte, address uint64) (int, error) {
		if sd.blind {
			return 0, errors.ErrUnsupported
		}
		return other.read(b[:min(len(b), n)], address)
	})
	if errors.Is(err, errors.ErrUnsupported) {
		sd.f.FetchFailed()
		return 0
	}
	sd.endOn(errors.Join(err, sd.f.Complete(rail, dir, moved)))
	return moved
}

// read is what a link's Fetch does for the other side: it looks up which message lies at that address.
func (sd *side) read(buf []byte, address uint64) (int, error) {
	for _, r := range sd.sends {
		if at := address - r.Data.address(); !sd.hidden && r.Data.base != nil && at < uint64(r.Data.Size) && r.Stage != Finished {
			if uint64(len(buf)) > uint64(r.Data.Size)-at {
				return 0, errors.New("it reads beyond the end of what is exposed")
			}
			return copy(buf, r.Data.Buf()[at:]), nil
		}
	}
	return 0, nil
}

// settle lets everything move until nothing does.
func (wd *world) settle() {
	for moved := true; moved; {
		moved = false
		for i, s := range wd.sides {
			other := wd.sides[1-i]
			moved = len(s.leave(-1)) > 0 || moved
			for s.take(other) {
				moved = true
			}
			for rail := range wd.rails {
				moved = s.carry(other, rail, Push, 1<<20) > 0 || moved
				moved = s.carry(other, rail, Pull, 1<<20) > 0 || moved
				moved = s.f.SendDue() || moved // an answer: what it was to read it asks for
			}
		}
	}
}

var kindNames = []string{"", "EAGER", "RDV", "RTR", "CREDIT", "BYE", "BYEACK", "AGGREGATE", "LINK", "FULL", "ROOM", "LOAN", "RETURN", "NOTE", "EXPOSE"}

// String is the packet as scenarios show it.
func (pk packet) String() string {
	h := &pk.head
	switch h.Kind {
	case KindEager, KindAggregate:
		return fmt.Sprintf("%s tag %d, size %d, seq %d, credit %d", kindNames[h.Kind], h.Tag, h.Size, h.Seq, h.Cookie)
	case KindRdv, KindExpose:
		return fmt.Sprintf("%s tag %d, size %d, seq %d", kindNames[h.Kind], h.Tag, h.Size, h.Seq)
	case KindRtr:
		more := ""
		if h.Flags&FlagMore != 0 {
			more = ", more will follow"
		}
		return fmt.Sprintf("RTR %d bytes from %d over rail %d%s", h.Size, h.Tag, h.Flags&RailFlags, more)
	}
	return fmt.Sprintf("%s %d", kindNames[h.Kind], h.Size)
}
