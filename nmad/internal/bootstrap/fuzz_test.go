package bootstrap

import (
	"bytes"
	"net"
	"runtime"
	"testing"
	"time"
)

// replay is a connection from which given bytes are read.
type replay struct {
	net.Conn
	r *bytes.Reader
}

func (c replay) Read(b []byte) (int, error)       { return c.r.Read(b) }
func (c replay) Write(b []byte) (int, error)      { return len(b), nil }
func (c replay) SetWriteDeadline(time.Time) error { return nil }

// recorded catches what a wire sends.
type recorded struct {
	net.Conn
	b bytes.Buffer
}

func (c *recorded) Write(b []byte) (int, error)      { return c.b.Write(b) }
func (c *recorded) SetWriteDeadline(time.Time) error { return nil }

func frames(t testing.TB, kinds ...kind) []byte {
	var c recorded
	w := newWire(&c, secret, []byte("a"), []byte("b"), true)
	for _, k := range kinds {
		payload := notice(1, "reason")
		if k == kindReady || k == kindGo {
			payload = nil
		} else if k == kindLeave {
			payload = appendU32(nil, 1)
		}
		if err := w.send(k, payload); err != nil {
			t.Fatal(err)
		}
	}
	return c.b.Bytes()
}

func TestWireRoundTrip(t *testing.T) {
	kinds := []kind{kindGo, kindLeave, kindDead, kindAbort}
	w := newWire(replay{r: bytes.NewReader(frames(t, kinds...))}, secret, []byte("a"), []byte("b"), false)
	for _, want := range kinds {
		k, payload, err := w.recv(4)
		if err != nil || k != want {
			t.Fatalf("received kind %d, %v; want %d", k, err, want)
		}
		if k == kindDead {
			if rank, reason, err := parseNotice(payload, 4); rank != 1 || reason != "reason" || err != nil {
				t.Errorf("a notice about rank %d, %q, %v", rank, reason, err)
			}
		}
	}
}

// TestWireTampering flips every bit of two frames, swaps them and repeats them:
// nothing of that may be taken for authentic.
func TestWireTampering(t *testing.T) {
	good := frames(t, kindLeave, kindDead)
	first := headSize + 4 + tagSize
	try := func(b []byte) (n int) {
		w := newWire(replay{r: bytes.NewReader(b)}, secret, []byte("a"), []byte("b"), false)
		for {
			if _, _, err := w.recv(4); err != nil {
				return n
			}
			n++
		}
	}
	if n := try(good); n != 2 {
		t.Fatalf("%d good frames were taken, want 2", n)
	}
	for i := range 8 * len(good) {
		b := bytes.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		if n := try(b); n > 1 || n == 1 && i/8 < first {
			t.Fatalf("%d frames were taken although bit %d was flipped", n, i)
		}
	}
	if n := try(append(bytes.Clone(good[first:]), good[:first]...)); n != 0 {
		t.Error("frames in the wrong order were taken")
	}
	if n := try(append(bytes.Clone(good[:first]), good[:first]...)); n != 1 {
		t.Error("a repeated frame was taken")
	}
}

// TestWireMemory: a head that announces the largest frame of a job of 4096 has its receiver take no memory
// before the bytes are there.
func TestWireMemory(t *testing.T) {
	const size = 4096
	head := append(appendU32(nil, uint32(kindTable.limit(size))), byte(kindTable), 0, 0, 0)
	w := newWire(replay{r: bytes.NewReader(append(head, make([]byte, 100)...))}, secret, []byte("a"), []byte("b"), false)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := w.recv(size); err == nil {
		t.Error("a frame was taken that did not arrive")
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("the receiver took %d bytes for 100", taken)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(frames(f, kindGo, kindLeave, kindDead, kindAbort))
	f.Add([]byte{255, 255, 255, 255, 2, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newWire(replay{r: bytes.NewReader(b)}, secret, []byte("a"), []byte("b"), false)
		for {
			k, payload, err := w.recv(3)
			if err != nil {
				return
			}
			if len(payload) > k.limit(3) {
				t.Fatalf("kind %d with %d bytes", k, len(payload))
			}
		}
	})
}

func FuzzPayloads(f *testing.F) {
	card := Card{Rank: 1, PID: 2, Host: "h", Rails: []Rail{{"d", "a"}, {"e", "b"}}}
	f.Add(appendTable(nil, []Card{card}))
	f.Add(append(appendTable(nil, []Card{{Rank: 1, Host: "h"}})[:39], 255, 255, 255, 255)) // more rails than there may be
	f.Add(pack(appendTable(nil, []Card{{}, card})))
	f.Add(appendTable(nil, []Card{{}, card}))
	f.Add(notice(1, "why"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := parseCards(b, []int{1}); err == nil && !bytes.Equal(appendTable(nil, c), b) {
			t.Fatalf("cards %+v are written otherwise than they were read", c)
		}
		if table, err := unpack(b, 2); err == nil && len(table) > kindTable.limit(2) {
			t.Fatalf("a table of %d bytes was unpacked", len(table))
		}
		if cards, err := parseTable(b, 2); err == nil && !bytes.Equal(appendTable(nil, cards), b) {
			t.Fatalf("table %+v is written otherwise than it was read", cards)
		}
		if rank, reason, err := parseNotice(b, 2); err == nil && (rank > 1 || !bytes.Equal(notice(rank, reason), b)) {
			t.Fatalf("a notice about rank %d, %q", rank, reason)
		}
		if rank, err := parseLeave(b, 2); err == nil && rank > 1 {
			t.Fatalf("rank %d leaves a job of two", rank)
		}
	})
}

// FuzzClaims feeds rank 0's side of the handshake: without the secret none gets in.
func FuzzClaims(f *testing.F) {
	f.Add(make([]byte, claimSize))
	f.Add(append(appendHead(nil), make([]byte, claimSize-8)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := receive(replay{r: bytes.NewReader(b)}, secret, 4, func(int, bool) verdict {
			t.Error("a stranger was admitted")
			return welcome
		})
		if err == nil {
			t.Error("a stranger was let in")
		}
	})
}

// FuzzVerdicts feeds the dialler's side: without the secret none plays rank 0.
func FuzzVerdicts(f *testing.F) {
	f.Add(make([]byte, greetingSize+verdictSize))
	f.Add(append(append(appendHead(nil), make([]byte, nonceSize)...), append(appendHead(nil), make([]byte, 32)...)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := offer(replay{r: bytes.NewReader(b)}, secret, 1, 4, false); err == nil {
			t.Error("a stranger was taken for rank 0")
		}
	})
}
