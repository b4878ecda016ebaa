package am

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"
)

// FuzzDecode: what is read of a tag is what was written, and nothing that it says leads out of the message.
func FuzzDecode(f *testing.F) {
	f.Add(uint64(0), 0)
	f.Add((&head{kind: kindReply, args: MaxArgs, credit: 255, seq: 7, id: 1 << 31}).tag(), argsRoom)
	f.Add(uint64(answerBit), 8)
	f.Add((&head{kind: kindReply, where: bodyFollows, args: 1, credit: 1, id: 1}).tag(), 8+placeBytes)
	f.Fuzz(func(t *testing.T, tag uint64, n int) {
		h, err := decode(tag, n)
		if err == nil && (h.tag() != tag || h.args > MaxArgs || 8*h.args > n || h.where != bodyWithin && n-8*h.args != placeBytes) {
			t.Errorf("%#x with %d bytes is %+v", tag, n, h)
		}
	})
}

// FuzzDecodeAnswer is the same for the word of an answer.
func FuzzDecodeAnswer(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{1, 255, 16, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decodeAnswer(b)
		if err != nil {
			return
		}
		var word [wordSize]byte
		if v.put(word[:]); !bytes.Equal(word[:], b[:wordSize]) || wordSize+8*v.args > len(b) {
			t.Errorf("%x is %+v", b, v)
		}
	})
}

// FuzzPeer: a peer may send whatever messages it likes: handlers run for requests in their order, each once, what
// breaks the rules fails the peer, and no more is kept than the Window allows.
func FuzzPeer(f *testing.F) {
	add := func(heads ...head) {
		var b []byte
		for _, h := range heads {
			b = binary.LittleEndian.AppendUint64(b, h.tag())
			if h.where == bodyWithin {
				b = append(b, 8)
			} else {
				b = append(b, placeBytes)
			}
		}
		f.Add(b)
	}
	add(head{seq: 0, id: 1}, head{seq: 2, id: 1}, head{seq: 1, id: 1})
	add(head{seq: 9, id: 1}, head{kind: kindCredit, credit: 1}, head{kind: kindReply, id: 1, args: 1})
	add(head{seq: 0, id: ID(callBegins), args: 1, wants: true}, head{seq: 1, id: ID(callEnds)}, head{seq: 2, id: ID(callCanceled)})
	add(head{seq: 0, id: 1, where: bodyPlaced}, head{seq: 1, id: 1, where: bodyFollows}, head{seq: 2, id: 1}, head{seq: 3, id: 1, where: bodyFollows}, head{seq: 1, id: 1, where: bodyFollows})
	f.Fuzz(func(t *testing.T, b []byte) {
		j := newJob(t, 1, nil, Config{Window: 4, Receives: 4}, false)
		defer j.close()
		w, handled := j.worlds[0], 0
		var p *peer
		j.handle(1, func(tk *Token, _ []uint64, _ []byte) {
			if tk.head.where != bodyWithin {
				t.Errorf("request %d is handled, where there is no memory", tk.head.seq)
			}
			if handled++; tk.head.kind == kindRequest && (tk.head.seq != p.nextSeq-1 || handled > int(p.received)) {
				t.Errorf("request %d is handled where %d is due, %d of %d", tk.head.seq, p.nextSeq-1, handled, p.received)
			}
		})
		var err error
		p, err = w.defaultDomain.to(0)
		if err != nil {
			t.Fatal(err)
		}
		broken := false
		for ; len(b) > 8 && !broken; b = b[9:] {
			tag, n := binary.LittleEndian.Uint64(b), int(b[8])
			if h, err := decode(tag, n); err == nil && (h.kind == kindRequest && h.id != 1 || h.wants || h.kind == kindReply) {
				continue // answers of its own would come back to it
			}
			if err := p.take(tag, make([]byte, n)); err != nil {
				broken = true
			}
			if p.owed < 0 || p.underWay < 0 || len(p.spareBuffers) > 2*maxWindow || len(p.incomingBodies) > 2*maxWindow {
				t.Fatalf("owed %d, under way %d, spare %d, landings %d", p.owed, p.underWay, len(p.spareBuffers), len(p.incomingBodies))
			}
		}
	})
}

// TestModel: random requests, from several ranks through several domains, are handled once each, in the order of
// their rank and domain.
func TestModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		window := 1 << rapid.IntRange(0, 6).Draw(r, "window")
		net := networks(t)[rapid.SampledFrom([]string{"shm", "unix"}).Draw(r, "network")]
		j := newJob(t, 2, net, Config{Window: window, Receives: rapid.IntRange(4, 40).Draw(r, "receives")}, false)
		defer j.close()
		type key struct{ from, domain, to uint64 }
		sent, came := map[key]uint64{}, map[key]uint64{}
		j.handle(1, func(tk *Token, args []uint64, body []byte) {
			k := key{args[0], args[1], args[2]}
			if came[k] != args[3] || uint64(len(body)) != args[4] || uint64(tk.Rank()) != args[0] {
				r.Errorf("%v: request %d, %d bytes, came as number %d", k, args[3], len(body), came[k])
			}
			came[k]++
		})
		domains := [2][]*Domain{}
		for rank, w := range j.worlds {
			d, err := w.Domain(DomainConfig{Number: 3})
			if err != nil {
				r.Fatal(err)
			}
			domains[rank] = []*Domain{w.Default(), d}
		}
		poll := func() {
			for _, all := range domains {
				for _, d := range all {
					d.Poll()
				}
			}
		}
		for range rapid.IntRange(1, 300).Draw(r, "requests") {
			from, to, number := rapid.Uint64Range(0, 1).Draw(r, "from"), rapid.Uint64Range(0, 1).Draw(r, "to"), rapid.Uint64Range(0, 1).Draw(r, "domain")
			n := rapid.SampledFrom([]int{0, 1, 511, 512, 980, 985, 1024, 5000, 40000}).Draw(r, "bytes")
			k := key{from, number, to}
			args := []uint64{from, number, to, sent[k], uint64(n)}
			ok, err := domains[from][number].TryRequest(int(to), 1, args, make([]byte, n))
			if err != nil {
				r.Fatal(err)
			}
			if ok {
				sent[k]++
			}
			if rapid.IntRange(0, 3).Draw(r, "poll") == 0 {
				poll()
			}
		}
		for k, n := range sent {
			for tries := 0; came[k] < n; tries++ {
				if poll(); tries > 1e7 {
					r.Fatalf("%v: %d of %d", k, came[k], n)
				}
			}
			if came[k] != n {
				r.Errorf("%v: %d requests were handled, %d were sent", k, came[k], n)
			}
		}
	})
}
