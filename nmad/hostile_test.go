package nmad

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
)

// FuzzPackets lets a hostile peer send whatever it likes on both tracks. Nothing
// may panic, write outside a buffer, or hold more memory than was granted; and when
// the gate ends every request must end with it.
func FuzzPackets(f *testing.F) {
	packet := func(h driver.Header, body string) []byte {
		h.Body = uint32(len(body))
		b := make([]byte, driver.HeaderSize)
		h.Put(b)
		return append(b, body...)
	}
	f.Add(packet(driver.Header{Kind: flow.KindEager, Context: flow.DefaultContext, Tag: 1, Size: 3}, "abc"))
	f.Add(packet(driver.Header{Kind: flow.KindRdv, Context: flow.DefaultContext, Tag: 2, Size: 1 << 40, Cookie: 5}, ""))
	f.Add(packet(driver.Header{Kind: flow.KindRtr, Tag: 3, Size: 100, Cookie: 1 << flow.CookieBits}, ""))
	const first = 1 << flow.CookieBits // the cookie of the first send
	f.Add(append(packet(driver.Header{Kind: flow.KindRtr, Flags: flow.FlagMore | 1, Size: flow.MinChunk, Cookie: first + 1}, ""),
		packet(driver.Header{Kind: flow.KindRtr, Flags: 0, Tag: flow.MinChunk, Size: 5000 - flow.MinChunk, Cookie: first + 1}, "")...))
	f.Add(packet(driver.Header{Kind: flow.KindRtr, Flags: 2, Size: 100, Cookie: first}, "")) // no such rail
	f.Add(packet(driver.Header{Kind: flow.KindRtr, Tag: 1 << 63, Size: 1 << 63, Cookie: first}, ""))
	f.Add(append(packet(driver.Header{Kind: flow.KindCredit, Size: 7}, ""), packet(driver.Header{Kind: flow.KindBye, Size: 1}, "")...))
	f.Add(packet(driver.Header{Kind: flow.KindByeAck}, ""))
	var full []byte
	for i := range uint32(3) {
		full = append(full, packet(driver.Header{Kind: flow.KindRdv, Context: flow.DefaultContext, Tag: 9, Size: 1000, Cookie: i, Seq: i}, "")...)
	}
	f.Add(append(full, packet(driver.Header{Kind: flow.KindFull, Size: 3}, "")...))
	f.Add(packet(driver.Header{Kind: flow.KindRoom, Size: 6}, ""))
	f.Add(packet(driver.Header{Kind: flow.KindAggregate, Size: 2}, "\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x01\x00abc\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(packet(driver.Header{Kind: flow.KindLoan, Context: flow.DefaultContext, Tag: 2, Size: 100, Cookie: 5}, strings.Repeat("\x00", flow.LoanLocator+flow.LoanBody)))
	f.Add(packet(driver.Header{Kind: flow.KindReturn, Cookie: first}, ""))
	f.Fuzz(func(t *testing.T, script []byte) {
		b := bounds{Bounds: flow.Bounds{Window: 2000, Records: 3, PeerWindow: 2000, PeerRecords: 3}}
		p := newPair(simnet.Options{}, b, simnet.Options{})
		g := p.gates[1]
		guard := bytes.Repeat([]byte{0xcc}, 300)
		room := guard[100:200:200]
		requests := []*Request{
			g.Irecv(1, room[:40]), g.Irecv(2, room[40:]), g.Irecv(2, nil),
			g.Isend(3, make([]byte, 100)), g.Isend(4, make([]byte, 5000)), g.Isend(5, make([]byte, 10)),
		}
		for len(script) >= driver.HeaderSize {
			var h driver.Header
			wrong := h.Get(script) != nil
			script = script[driver.HeaderSize:]
			if wrong {
				continue
			}
			h.Kind %= flow.LastKind + 2 // more of it gets past the first check
			body := script[:min(len(script), int(h.Body%128))]
			if h.Kind == flow.KindRtr {
				h.Flags &= flow.FlagMore | 3
			} else if h.Kind%2 == 0 {
				h.Flags = 0
			}
			h.Body = uint32(len(body))
			p.links[0].Inject(h, body)
			p.links[0].Push(body)
			script = script[len(body):]
			g.poll()
			if g.locked.flow.Ledger().Taken > b.Window || g.locked.flow.Ledger().Announced > g.locked.flow.Ledger().Records || g.locked.flow.Stats.UnexpectedBytes > uint64(b.Window) {
				if g.locked.endErr == nil {
					t.Fatalf("%d bytes taken, %d announcements, %d unexpected bytes", g.locked.flow.Ledger().Taken, g.locked.flow.Ledger().Announced, g.locked.flow.Stats.UnexpectedBytes)
				}
			}
		}
		for i, c := range guard {
			if c != 0xcc && (i < 100 || i >= 200) {
				t.Fatalf("byte %d outside the buffer was written", i-100)
			}
		}
		p.links[0].Break(driver.ErrPeerLost)
		for range 1000 {
			g.poll()
		}
		if g.locked.endErr == nil {
			t.Fatal("the gate lives on after its link has broken")
		}
		for i, r := range requests {
			if over, _ := r.Test(); !over {
				t.Fatalf("request %d is %v after the gate has ended", i, r.core.Stage)
			}
		}
		if n := p.engines[1].Pending(); n != 0 {
			t.Fatalf("the engine still counts %d pending requests", n)
		}
	})
}
