package nmad

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad/driver"
)

// bufferedSend sends a message through attached memory, and overwrites it at once.
func bufferedSend(g *Gate, tag uint64, msg []byte) error {
	var r Request
	own := append([]byte{}, msg...)
	if err := g.Post(&r, &Operation{Match: Match{Tag: tag}, Buf: own, Buffered: true}); err != nil {
		return err
	}
	clear(own)
	over, err := r.Test()
	if !over || err != nil || r.Len() != len(msg) {
		return errors.Join(errors.New("a buffered send is not done when Post returns"), err)
	}
	return nil
}

// TestBuffered: in domains of every kind a buffered send is done at once, its message arrives whatever becomes of the
// sender's memory, and Detach gives the memory back once all have left.
func TestBuffered(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.moving()()
		for i, kind := range []DomainConfig{{}, {Access: Serialized}, {Access: Fine}, {Progress: Explicit}, {Access: Private}, {Progress: Worker}} {
			from, err := j.sessions[0].Domain(DomainConfig{Number: 1 + i, Access: kind.Access, Progress: kind.Progress})
			if err != nil {
				t.Fatal(err)
			}
			to, err := j.sessions[1].Domain(DomainConfig{Number: 1 + i})
			if err != nil {
				t.Fatal(err)
			}
			memory := make([]byte, 80_000)
			if err := from.Attach(memory); err != nil {
				t.Fatal(err)
			}
			if err := from.Gate(2).Post(&Request{}, &Operation{Buffered: true}); !errors.Is(err, ErrRank) {
				t.Errorf("to a rank that does not exist: %v", err)
			}
			if err := from.Attach(nil); !errors.Is(err, ErrConfig) {
				t.Errorf("a second buffer: %v", err)
			}
			for round := range 3 {
				sizes := []int{0, 1, 8, 700, 79_000}
				for n, size := range sizes {
					// The round before has arrived; its sender hears of that a little later, and has the memory again.
					send := func() error { return bufferedSend(from.Gate(1), 7, pattern(size, uint64(round*10+n))) }
					err := send()
					for end := time.Now().Add(10 * time.Second); round > 0 && errors.Is(err, ErrBuffer) && time.Now().Before(end); err = send() {
						from.poll()
					}
					if err != nil {
						t.Fatalf("%+v, %d bytes: %v", kind, size, err)
					}
				}
				if err := bufferedSend(from.Gate(1), 7, make([]byte, 80_001)); !errors.Is(err, ErrBuffer) {
					t.Errorf("more than there is room: %v", err)
				}
				for n, size := range sizes {
					buf := make([]byte, size)
					r := to.Gate(0).Irecv(7, buf)
					for over, err := r.Test(); !over; over, err = r.Test() {
						if from.poll(); err != nil {
							t.Fatal(err)
						}
					}
					if err := r.Wait(); err != nil || r.Len() != size || string(buf) != string(pattern(size, uint64(round*10+n))) {
						t.Errorf("%+v, %d bytes: %d, %v, or damaged", kind, size, r.Len(), err)
					}
				}
			}
			back, err := from.Detach(t.Context())
			if err != nil || len(back) != len(memory) || &back[0] != &memory[0] {
				t.Errorf("%+v: Detach: %d bytes, %v", kind, len(back), err)
			}
			if _, err := from.Detach(t.Context()); !errors.Is(err, ErrBuffer) {
				t.Errorf("detached twice: %v", err)
			}
			if err := bufferedSend(from.Gate(1), 7, nil); !errors.Is(err, ErrBuffer) {
				t.Errorf("without memory: %v", err)
			}
			if err := errors.Join(from.Close(), to.Close()); err != nil {
				t.Error(err)
			}
		}
		j.close()
	})
}

// TestBufferedFull: without room a buffered send fails and sends nothing, and its request is the caller's; once
// messages have left there is room again. Detach waits for those that are left, as long as it may.
func TestBufferedFull(t *testing.T) {
	overAll(t, func(t *testing.T, d driver.Driver) {
		j := newJob(t, 2, d, nil)
		defer j.moving()()
		const size = 300_000
		s, msg := j.sessions[0], pattern(size, 1)
		if err := s.Attach(make([]byte, 2*size+size/2)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := bufferedSend(s.Gate(1), 3, msg); err != nil {
				t.Fatal(err)
			}
		}
		var r Request
		if err := s.Gate(1).Post(&r, &Operation{Match: Match{Tag: 3}, Buf: msg, Buffered: true}); !errors.Is(err, ErrBuffer) {
			t.Errorf("without room: %v", err)
		}
		if _, err := r.Test(); !errors.Is(err, ErrNotStarted) {
			t.Errorf("a send that was refused has started its request: %v", err)
		}
		for what, op := range map[string]*Operation{
			"shorter than it says": {Data: &listed{[][]byte{{1}}, 2}, Buffered: true},
			"synchronous":          {Sync: true, Buffered: true},
			"with a function":      {Done: func(*Request) {}, Buffered: true},
			"a receive":            {Kind: KindRecv, Buffered: true},
		} {
			if err := s.Gate(1).Post(&r, op); !errors.Is(err, ErrConfig) && !errors.Is(err, ErrData) {
				t.Errorf("%s: %v", what, err)
			}
		}
		busy := s.Gate(1).Irecv(99, nil)
		if err := s.Gate(1).Post(busy, &Operation{Buffered: true}); !errors.Is(err, ErrActive) {
			t.Errorf("with a request that is under way: %v", err)
		}
		busy.Cancel()
		soon, stop := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer stop()
		if _, err := s.Detach(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("messages are under way, and Detach says %v", err)
		}
		buf := make([]byte, size)
		receive := func() {
			if n, err := j.sessions[1].Gate(0).Recv(3, buf); err != nil || n != size || string(buf) != string(msg) {
				t.Fatalf("%d bytes, %v, or damaged", n, err)
			}
		}
		receive()
		for err := ErrBuffer; err != nil; { // until the sender knows
			if err = bufferedSend(s.Gate(1), 3, msg); err != nil && !errors.Is(err, ErrBuffer) {
				t.Fatal(err)
			}
		}
		parts := &Operation{Match: Match{Tag: 3}, Parts: [][]byte{msg[:7], nil, msg[7:100]}, Buffered: true}
		if err := s.Gate(1).Post(&r, parts); err != nil {
			t.Error(err)
		}
		receive()
		receive()
		if n, err := j.sessions[1].Gate(0).Recv(3, buf); err != nil || string(buf[:n]) != string(msg[:100]) {
			t.Errorf("parts: %d bytes, %v", n, err)
		}
		if _, err := s.Detach(t.Context()); err != nil {
			t.Error(err)
		}
		j.close()
	})
}

// TestBufferedLate: of a message that was given up the next buffered send of the domain tells, once, or Detach, also
// after Close.
func TestBufferedLate(t *testing.T) {
	j := newJob(t, 3, nil, func(c *Config) { c.Driver, c.Linger = "tcp", 50*time.Millisecond })
	s := j.sessions[0]
	if err := s.Attach(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	send := func(rank int) error { return bufferedSend(s.Gate(rank), 1, make([]byte, 100_000)) }
	if err := send(1); err != nil { // it waits for its receive
		t.Fatal(err)
	}
	if err := j.sessions[1].Close(); err != nil {
		t.Error(err)
	}
	lostWait(t, s.Gate(1).Irecv(1, nil), 1)
	if err := send(2); !errors.Is(err, ErrPeerLost) || !strings.Contains(err.Error(), "before to rank 1, tag 0x1") {
		t.Errorf("the next send: %v", err)
	}
	if err := send(2); err != nil {
		t.Errorf("and the one after it: %v", err)
	}
	if err := send(1); !errors.Is(err, ErrPeerLost) {
		t.Errorf("to the process that has left: %v", err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "rank 2") {
		t.Errorf("a buffered send was given up, and Close says %v", err)
	}
	if _, err := s.Detach(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Detach after Close: %v", err)
	}
	if err := j.sessions[2].Close(); err != nil {
		t.Error(err)
	}
}

// TestBufferedDetaching: a sender that has found memory attached gets no place in it once a thread detaches it, nor
// after that: the memory is the program's again.
func TestBufferedDetaching(t *testing.T) {
	a := newAttached(make([]byte, 100))
	k := a.take(10)
	if k == nil || !a.begin() || a.begin() {
		t.Fatal("memory is not given, or two threads detach it")
	}
	if a.take(10) != nil || a.take(0) != nil {
		t.Error("memory is given that is about to be taken back")
	}
	a.drop(k)
	if a.oldest() != nil || a.take(10) != nil {
		t.Error("memory is given that was taken back")
	}
}

// TestBufferedPlaces: places never overlap and lie within the memory, whatever the order in which messages end, and all
// of it is free again in the end.
func TestBufferedPlaces(t *testing.T) {
	for range effort.Of(200) {
		a := newAttached(make([]byte, 1+rand.IntN(500)))
		taken, owner := map[*attachedMessage]byte{}, make([]byte, len(a.memory))
		refused := 0
		for i := range 400 {
			if rand.IntN(2) == 0 && len(taken) > 0 {
				for k, mark := range taken { // any
					for at := k.at; at < k.at+k.size; at++ {
						if owner[at] != mark {
							t.Fatalf("byte %d is of two messages", at)
						}
						owner[at] = 0
					}
					delete(taken, k)
					a.drop(k)
					break
				}
				continue
			}
			size := rand.IntN(60)
			k := a.take(size)
			if k == nil {
				refused++
				gap := 0
				for _, x := range owner {
					if gap++; x != 0 {
						gap = 0
					}
					if gap >= size && gap > 0 {
						t.Fatalf("%d bytes are free in one piece, and %d were refused", gap, size)
					}
				}
				continue
			}
			mark := byte(1 + i%255)
			for at := k.at; at < k.at+size; at++ {
				if owner[at] != 0 {
					t.Fatalf("byte %d was given twice", at)
				}
				owner[at] = mark
			}
			taken[k] = mark
		}
		for k := range taken {
			a.drop(k)
		}
		if k := a.take(len(a.memory)); k == nil || a.room.Free() != 0 {
			t.Fatalf("all were given back, and %d bytes are free", a.room.Free())
		}
	}
}
