package shm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad/driver"
)

// memberVariable makes TestHostileMember the other process of TestHostileProcess: the address to dial, and a seed.
const memberVariable = "PM2_TEST_SHM_MEMBER"

// member is the driver of either process: by the seed in one geometry or another, and with offers.
func member(seed uint64) Driver {
	d := Driver{Copy: "single", minOffer: 4 << 10}
	if seed%3 == 0 {
		d.geo, d.minOffer = &tiny, 100
	}
	return d
}

// TestHostileMember is a process of the job, which holds the secret. It does its part in the link, and meanwhile writes
// what it likes into the segment, most of it nearly right: so it gets far.
func TestHostileMember(t *testing.T) {
	address, number, _ := strings.Cut(os.Getenv(memberVariable), " ")
	if address == "" {
		t.Skip("it is the other process of TestHostileProcess")
	}
	go func() { time.Sleep(20 * time.Second); os.Exit(3) }()
	seed, _ := strconv.ParseUint(number, 10, 64)
	ep, err := member(seed).Open(config(1))
	if err != nil {
		t.Fatal(err)
	}
	dialed, err := ep.Dial(t.Context(), 0, address)
	if err != nil {
		t.Fatal(err)
	}
	l := dialed.(*link)
	rng := rand.New(rand.NewPCG(seed, 1))
	pull, push := make([]byte, 1<<20), make([]byte, 1<<20)
	at, out := 0, 0
	began, quiet, seldom := time.Now(), time.Duration(rng.IntN(20))*time.Millisecond, 1<<rng.IntN(10)
	for i := 0; time.Since(began) < 400*time.Millisecond; i++ {
		var h driver.Header
		_, _, _ = l.Recv(&h)
		n, _ := l.Pull(pull[at:])
		if at += n; at == len(pull) {
			at = 0
		}
		h = driver.Header{Kind: uint8(i), Body: uint32(rng.IntN(l.Caps().MaxBody))}
		_, _ = l.Send(&h, push[:h.Body], nil, false)
		n, _ = l.Push(push[out:])
		if out += n; out == len(push) {
			out = 0
		}
		if time.Since(began) < quiet || rng.IntN(seldom) != 0 {
			continue // it does well first, and mostly
		}
		for range rng.IntN(1 + rng.IntN(8)) {
			lie(rng, l.mem.Bytes(), l.geometry())
		}
		if i%64 == 0 {
			time.Sleep(time.Duration(rng.IntN(100)) * time.Microsecond)
		}
	}
}

// geometry is what the link was made with.
func (l *link) geometry() geometry {
	return geometry{
		cells: uint32(len(l.smallTx.cells)), maxBody: uint32(l.Caps().MaxBody), bodies: uint32(len(l.smallTx.bodies)),
		slots: uint32(len(l.largeTx.words)), slotSize: uint32(len(l.largeTx.slots) / len(l.largeTx.words)),
	}
}

// lie changes a word of the segment that the other side goes by.
func lie(rng *rand.Rand, mem []byte, g geometry) {
	d := g.direction(rng.IntN(2))
	from, to := d.credit, d.bodies
	switch rng.IntN(8) {
	case 0:
		from, to = 0, 2*padding
	case 1, 2, 3:
		from, to = d.slotCredit, d.cells
	case 4, 5:
		from, to = d.words, d.words+uint64(g.slots)*padding
	}
	at := from + rng.Uint64N((to-from)/8)*8
	w := binary.LittleEndian.Uint64(mem[at:])
	switch rng.IntN(8) {
	case 0:
		w = rng.Uint64() >> rng.IntN(64)
	case 1, 2:
		w ^= 1 << rng.IntN(64)
	case 3, 4:
		w += uint64(rng.IntN(5)) - 2
	case 5:
		w = 0
	case 6:
		w = binary.LittleEndian.Uint64(mem[from+rng.Uint64N((to-from)/8)*8:])
	case 7:
		w = w&^(1<<32-1) | offerMark
	}
	binary.LittleEndian.PutUint64(mem[at:], w)
}

// TestHostileProcess: a process of the job writes into the segment what it must not, while this one works, with offers,
// for which the kernel copies between the two: errors, but nothing beside a buffer or after its return, no wait without
// an end, no memory that grows.
func TestHostileProcess(t *testing.T) {
	if ourselves() == 0 {
		t.Skip("this kernel lets no process read another one's memory")
	}
	first, cases := rand.Uint64()>>20, 9
	if testing.Short() {
		cases = 3
	}
	if text := os.Getenv("PM2_TEST_SHM_HOSTILE"); text != "" { // SEED CASES
		_, _ = fmt.Sscan(text, &first, &cases)
	}
	ends := map[string]int{}
	for i := range uint64(cases) {
		seed := first + i
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { ends[hostileCase(t, seed)]++ }) {
			t.Fatalf("again: PM2_TEST_SHM_HOSTILE='%d 1'", seed)
		}
	}
	t.Log(ends)
}

func hostileCase(t *testing.T, seed uint64) (end string) {
	ep, err := member(seed).Open(config(0))
	if err != nil {
		t.Fatal(err)
	}
	defer ep.Close()
	peer := exec.Command(os.Args[0], "-test.run=^TestHostileMember$")
	peer.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", memberVariable, ep.Addr(), seed))
	if err := peer.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = peer.Process.Kill(); _ = peer.Wait() }() // how it ends says nothing: we may have written into it
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, accepted, err := ep.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	l := accepted.(*link)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const room, guard = 1 << 20, 4096
	whole := bytes.Repeat([]byte{0xA5}, room+2*guard)
	pull, push := whole[guard:][:room:room], make([]byte, room)
	at, out := 0, 0
	rng := rand.New(rand.NewPCG(seed, 2))
	for broken := error(nil); broken == nil; {
		if ctx.Err() != nil {
			t.Fatal("the link goes on, though its peer has ended long ago")
		}
		note := func(err error) {
			if err != nil && broken == nil {
				broken = err
			}
		}
		var h driver.Header
		body, ok, err := l.Recv(&h)
		if note(err); ok && (len(body) != int(h.Body) || len(body) > l.Caps().MaxBody) {
			t.Fatalf("a body of %d bytes, header says %d", len(body), h.Body)
		}
		n, err := l.Pull(pull[at:])
		if note(err); n < 0 || n > room-at {
			t.Fatalf("Pull says %d of %d", n, room-at)
		}
		if at += n; at == room {
			at = 0
		}
		h = driver.Header{Body: uint32(rng.IntN(l.Caps().MaxBody))}
		_, err = l.Send(&h, push[:h.Body], nil, false)
		note(err)
		n, err = l.Push(push[out:])
		if note(err); n < 0 || n > room-out {
			t.Fatalf("Push says %d of %d", n, room-out)
		}
		if out += n; out == room {
			out = 0
		}
		if rng.IntN(8) == 0 {
			l.Arm(rng.IntN(2) == 0)
			l.Disarm()
		}
		if broken != nil {
			end = broken.Error()
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("the link took %d bytes of memory", after.TotalAlloc-before.TotalAlloc)
	}
	if _, err := l.Pull(pull[at:]); !errors.Is(err, driver.ErrProtocol) && !errors.Is(err, driver.ErrPeerLost) {
		t.Errorf("after its end the link says %v", err)
	}
	began := time.Now()
	for _, back := range []func() (int, bool){l.ReturnPush, func() (int, bool) { return l.ReturnPull(true) }} {
		for ok := false; !ok; time.Sleep(time.Millisecond) {
			if _, ok = back(); !ok && time.Since(began) > 20*time.Second {
				t.Fatal("a buffer does not come back")
			}
		}
	}
	kept := bytes.Clone(whole)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond) // in which a late write would be seen
	if !bytes.Equal(kept, whole) {
		t.Error("the buffer was written to after it was given back")
	}
	for i := range guard {
		if whole[i] != 0xA5 || whole[len(whole)-1-i] != 0xA5 {
			t.Fatal("something was written beside the buffer")
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error("it took too long")
	}
	switch {
	case strings.Contains(end, "protocol violation"):
		return "violation"
	case strings.Contains(end, "peer lost"):
		return "lost"
	}
	t.Errorf("it ended with %s", end)
	return end
}
