package meet

import (
	"bytes"
	"encoding/binary"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"
)

// recorded catches what is sent.
type recorded struct {
	net.Conn
	b bytes.Buffer
}

func (rc *recorded) Write(b []byte) (int, error)      { return rc.b.Write(b) }
func (rc *recorded) SetWriteDeadline(time.Time) error { return nil }

// sealer is what both sides of an exchange have found out.
func sealer() *Peer {
	x := exchange{me: me(1), dialer: []byte("a"), listener: []byte("b")}
	return &Peer{seal: x.code}
}

// most bounds the frames of the tests.
func most(kind byte) int {
	switch kind {
	case 1, 2, 3:
		return 10 * int(kind)
	case 4:
		return 100 << 20
	}
	return -1
}

// frames are sealed frames of these kinds, as the listener has sent them, each with its kind as many times as that says.
func frames(t testing.TB, kinds ...byte) []byte {
	var c recorded
	s := sealer().Seal(&c, false)
	for _, k := range kinds {
		if err := s.Send(k, bytes.Repeat([]byte{k}, int(k))); err != nil {
			t.Fatal(err)
		}
	}
	return c.b.Bytes()
}

// taken is how many frames of b the dialer takes.
func taken(b []byte) (n int) {
	s := sealer().Seal(saying{r: bytes.NewReader(b)}, true)
	for {
		k, payload, err := s.Recv(most)
		if err != nil {
			return n
		}
		if len(payload) > most(k) {
			return -1
		}
		n++
	}
}

func TestSealed(t *testing.T) {
	if n := taken(frames(t, 1, 2, 3, 1)); n != 4 {
		t.Errorf("%d frames of 4 were taken", n)
	}
	if n := taken(frames(t, 1, 5)); n != 1 {
		t.Errorf("%d frames were taken; there is no kind 5", n)
	}
}

// TestTampering flips every bit of two frames, swaps them and repeats them, and turns them round:
// nothing of that may be taken for authentic.
func TestTampering(t *testing.T) {
	good := frames(t, 1, 2)
	first := HeadSize + 1 + tagSize
	if n := taken(good); n != 2 {
		t.Fatalf("%d good frames were taken, want 2", n)
	}
	for i := range 8 * len(good) {
		b := bytes.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		if n := taken(b); n > 1 || n == 1 && i/8 < first {
			t.Fatalf("%d frames were taken although bit %d was flipped", n, i)
		}
	}
	if n := taken(append(bytes.Clone(good[first:]), good[:first]...)); n != 0 {
		t.Error("frames in the wrong order were taken")
	}
	if n := taken(append(bytes.Clone(good[:first]), good[:first]...)); n != 1 {
		t.Error("a repeated frame was taken")
	}
	back := sealer().Seal(saying{r: bytes.NewReader(good)}, false)
	if _, _, err := back.Recv(most); err == nil {
		t.Error("a frame was taken by the side that sent it")
	}
}

// TestMemory: a head that announces a very long frame has its receiver take no memory
// before the bytes are there.
func TestMemory(t *testing.T) {
	s := sealer().Seal(saying{r: bytes.NewReader(append(binary.LittleEndian.AppendUint32([]byte{4}, 100<<20), make([]byte, 100)...))}, true)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := s.Recv(most); err == nil {
		t.Error("a frame was taken that did not arrive")
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("the receiver took %d bytes for 100", taken)
	}
}

// FuzzSealed: no stream makes Recv panic, or take what is too long.
func FuzzSealed(f *testing.F) {
	f.Add(frames(f, 1, 2, 3))
	f.Add([]byte{2, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		if taken(b) < 0 {
			t.Fatal("a frame is too long")
		}
	})
}

// TestStoppedPeer: a peer that does not read keeps no sender waiting, and gets all when it goes on.
func TestStoppedPeer(t *testing.T) {
	a, b := pipe(t)
	const n = 1500
	sent := sealer().Seal(a, true)
	payload := make([]byte, 8000) // more in all than sockets buffer
	var longest time.Duration
	for i := range n {
		began := time.Now()
		if err := sent.Send(4, payload); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		longest = max(longest, time.Since(began))
	}
	if longest > time.Second {
		t.Errorf("the sender has waited for %v", longest)
	}
	sent.mu.Lock()
	if !sent.flushing {
		t.Error("the sockets have taken all of it")
	}
	sent.mu.Unlock()
	got := sealer().Seal(b, false)
	for i := range n {
		if _, _, err := got.Recv(most); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	sent.Flush()
	if err := sent.Send(1, nil); err != nil {
		t.Error("after all of that: ", err)
	}
	_ = a.Close()
	if err := sent.Send(1, nil); err == nil {
		t.Error("a connection that is closed takes a frame")
	}
}

// roomy records what is sent, and has room for some bytes more.
type roomy struct {
	recorded
	mu   sync.Mutex
	room int  // bytes that may be written now
	over bool // more was written than there was room for
}

func (rc *roomy) Write(b []byte) (int, error) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.room -= len(b)
	rc.over = rc.over || rc.room < 0
	return rc.recorded.Write(b)
}

// left returns the room, and then makes more of it.
func (rc *roomy) left() int {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	defer func() { rc.room = min(rc.room+3, 7) }()
	return rc.room
}

// TestRoom: no more bytes are written than there is room for. The others wait, in order, and none is lost.
func TestRoom(t *testing.T) {
	var c roomy
	s := sealer().Seal(&c, false)
	s.Room = c.left
	for k := range byte(3) {
		if err := s.Send(k+1, bytes.Repeat([]byte{k + 1}, int(k+1))); err != nil {
			t.Fatal(err)
		}
	}
	s.Flush()
	if n := taken(c.b.Bytes()); n != 3 || c.over {
		t.Errorf("%d frames of 3 were taken; more was written than there was room for: %v", n, c.over)
	}
}
