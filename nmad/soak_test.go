package nmad

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/nmad/strategy"
)

var (
	soakFor  = soakLength{time: time.Second}
	soakSeed = flag.Uint64("soak.seed", 0, "seed of TestSoak's first round, which it prints; 0: a new one")
	soakOver = flag.String("soak.network", "", "network of all rounds of TestSoak, such as tcp or fault:tcp; empty: each draws one")
)

func init() {
	flag.Var(&soakFor, "soak", "how long TestSoak goes on: a duration, or a number of messages")
}

// soakRate is how many messages a second a program receives that computes and communicates: 1 MiB
// beside 32 threads that never yield (experiment E23) takes 7.6 ms a message. At this rate 24
// hours are 11.4 million messages.
const soakRate = 132

// soakLength is a duration or, if that is zero, a number of messages.
type soakLength struct {
	time     time.Duration
	messages uint64
}

// Set implements flag.Value.
func (sk *soakLength) Set(text string) (err error) {
	if n, wrong := strconv.ParseUint(text, 10, 64); wrong == nil && n > 0 {
		*sk = soakLength{messages: n}
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is neither a duration, such as 24h, nor a number of messages, such as 11400000", text)
	}
	*sk = soakLength{time: d}
	return nil
}

// String implements flag.Value.
func (sk *soakLength) String() string {
	if sk.messages != 0 {
		return strconv.FormatUint(sk.messages, 10)
	}
	return sk.time.String()
}

// over says whether it is, after so many messages and so much time.
func (sk *soakLength) over(messages uint64, d time.Duration) bool {
	if sk.messages != 0 {
		return messages >= sk.messages
	}
	return d >= sk.time
}

// TestSoak exchanges messages in round after round, each over another network, or the one that
// -soak.network names, and with another strategy, for as long as -soak says:
//
//	go test ./nmad -run Soak -soak 24h -timeout 0
//	go test ./nmad -run Soak -soak 11400000 -timeout 0    # 24 hours' worth, see soakRate
//
// In a round every thread of three processes sends to, and receives from, every process, its
// own included: in all sizes and ways of sending and receiving there are, with cancels and
// probes in between, and one more receives from any source. Every byte and the order of all
// messages is looked at. If nothing moves for soakPatience it shows where each thread is.
func TestSoak(t *testing.T) {
	seed := *soakSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	w := watch(t)
	defer w.stop()
	rounds, began := 0, time.Now()
	for ; rounds == 0 || !soakFor.over(w.moved.Load(), time.Since(began)); rounds++ {
		w.round.Store(seed)
		if soakRound(t, seed, &w.moved); t.Failed() {
			t.Fatalf("round %d went wrong: repeat it with -soak.seed %d", rounds, seed)
		}
		seed++
	}
	moved := w.moved.Load()
	t.Logf("%d rounds, %d messages in %v, as many as a program has in %.2f hours; the last seed is %d",
		rounds, moved, time.Since(began).Round(time.Second), float64(moved)/(3600*soakRate), seed-1)
}

// soakPatience is for how many seconds nothing may move. A second counts only when we have
// seen it go by: on a machine that gives us none nothing can move.
const soakPatience = 120

// watchdog makes sure that messages move.
type watchdog struct {
	moved atomic.Uint64 // messages received
	round atomic.Uint64 // its seed
	over  chan struct{}
	gone  sync.WaitGroup
}

func watch(t *testing.T) *watchdog {
	w := &watchdog{over: make(chan struct{})}
	w.gone.Go(func() {
		second := time.NewTicker(time.Second) // which drops the seconds that we do not see
		defer second.Stop()
		for last, still := uint64(0), 0; ; {
			select {
			case <-w.over:
				return
			case <-second.C:
			}
			if now := w.moved.Load(); now != last {
				last, still = now, 0
			} else if still++; still > soakPatience {
				panic(fmt.Sprintf("%s: no message for %d seconds, in the round of seed %d", t.Name(), still, w.round.Load()))
			}
		}
	})
	return w
}

func (dog *watchdog) stop() {
	close(dog.over)
	dog.gone.Wait()
}

// soakRound is one round; its seed decides all that is not up to the schedulers.
func soakRound(t *testing.T, seed uint64, moved *atomic.Uint64) {
	const size, threads = 3, 2
	rng := rand.New(rand.NewPCG(seed, 1))
	network := soakNetwork(rng, seed)
	if *soakOver != "" {
		network = soakNamed(t, *soakOver, rng, seed)
	}
	j := newJob(t, size, network, func(c *Config) {
		c.Timeout, c.Linger = 5*time.Minute, time.Minute
		c.Strategy = strategy.Names()[seed%uint64(len(strategy.Names()))]
		c.Unexpected = []int{2 << 10, 64 << 10, DefaultUnexpected}[seed%3]
	})
	s := soak{t: t, seed: seed, messages: 20, moved: moved}
	var all sync.WaitGroup
	run := func(number int, f func()) {
		if number%2 == 0 {
			all.Go(f)
			return
		}
		thread := marcel.Spawn(f)
		all.Go(func() { _ = thread.Join() })
	}
	for rank := range size {
		for peer := range size {
			for n := range threads {
				run(n, func() { s.sendAll(j.sessions[rank].Gate(peer), uint64(n)) })
				run(n+1, func() { s.recvAll(j.sessions[rank].Gate(peer), uint64(n)) })
			}
			run(peer, func() { s.sendAll(j.sessions[rank].Gate(peer), anyTag) })
		}
		run(rank, func() { s.recvAny(j.sessions[rank]) })
	}
	all.Wait()
	j.close()
}

// soakNetwork draws a network, half of the time with faults.
func soakNetwork(rng *rand.Rand, seed uint64) driver.Driver {
	all := networks()
	names := append(driver.Names(), "sim")
	d := all[names[rng.IntN(len(names))]]
	if rng.IntN(2) == 0 {
		return d
	}
	return soakFaults(d, rng, seed)
}

// soakFaults puts faults around a network.
func soakFaults(d driver.Driver, rng *rand.Rand, seed uint64) driver.Driver {
	return fault.Driver{Inner: d, Plan: fault.Plan{
		Seed: seed, Ring: 64, Refuse: rng.Float64() / 3, Short: rng.Float64() / 2,
		Delay: fault.Chance{Share: rng.Float64() / 500, For: 100 * time.Microsecond},
		Stall: fault.Chance{Share: rng.Float64() / 500, For: 200 * time.Microsecond},
	}}
}

// soakNamed is the network of that name, with faults if it says "fault:" before it.
func soakNamed(t *testing.T, name string, rng *rand.Rand, seed uint64) driver.Driver {
	t.Helper()
	inner, faulty := strings.CutPrefix(name, "fault:")
	d, ok := networks()[inner]
	if !ok {
		t.Fatalf("-soak.network %s: there is no network %q; there are: %s, sim", name, inner, strings.Join(driver.Names(), ", "))
	}
	if faulty {
		return soakFaults(d, rng, seed)
	}
	return d
}

// TestSoakLength: how -soak is read.
func TestSoakLength(t *testing.T) {
	for text, want := range map[string]soakLength{"90s": {time: 90 * time.Second}, "11400000": {messages: 11400000}, "1": {messages: 1}} {
		var l soakLength
		if err := l.Set(text); err != nil || l != want {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
	for _, bad := range []string{"", "0", "-1s", "0s", "many", "1.5"} {
		if err := new(soakLength).Set(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
	if l := (soakLength{messages: 10}); l.over(9, time.Hour) || !l.over(10, 0) {
		t.Error("a number of messages is not what ends it")
	}
	if l := (soakLength{time: time.Second}); l.over(1e9, time.Second-1) || !l.over(0, time.Second) {
		t.Error("the time is not what ends it")
	}
}

// anyTag is the tag of the messages that are received from any source, and of the messages that
// are for one thread the bits above are zero.
const anyTag = 1 << 40

// soak is what the threads of a round share.
type soak struct {
	t        *testing.T
	seed     uint64
	messages int // per sender
	moved    *atomic.Uint64
}

// message gives the i-th message from one rank to another with that tag.
func (so *soak) message(from, to int, tag uint64, i int) []byte {
	key := so.seed<<20 ^ uint64(from)<<56 ^ uint64(to)<<48 ^ tag<<8 ^ uint64(i)
	rng := rand.New(rand.NewPCG(key, 2))
	n := 0
	switch rng.IntN(16) {
	case 0, 1, 2, 3, 4, 5:
		n = rng.IntN(40)
	case 6, 7, 8, 9:
		n = rng.IntN(1000)
	case 10, 11, 12:
		n = rng.IntN(40 << 10)
	case 13, 14:
		n = 1<<(8+2*rng.IntN(5)) - 16 + rng.IntN(32) // where protocols change: 256 B to 64 KiB
	default:
		n = rng.IntN(600 << 10)
	}
	return pattern(n, key)
}

func (so *soak) dice(g *Gate, tag uint64, role uint64) *rand.Rand {
	return rand.New(rand.NewPCG(so.seed^tag<<16^uint64(g.ownRank)<<8^uint64(g.rank), role))
}

// sendAll sends all messages of one tag through a gate, up to four at a time.
func (so *soak) sendAll(g *Gate, tag uint64) {
	rng := so.dice(g, tag, 3)
	var under [4]*Request
	for i := range so.messages {
		msg := so.message(g.ownRank, g.rank, tag, i)
		op := Operation{Match: Tag(tag), Buf: msg, Sync: rng.IntN(8) == 0, Priority: int8(rng.IntN(3))}
		if rng.IntN(4) == 0 {
			op.Buf, op.Parts = nil, inParts(msg, 1+rng.IntN(5000), rng.IntN(3))
		}
		slot := &under[rng.IntN(len(under))]
		if *slot != nil {
			so.must(g, tag, i, (*slot).Wait())
		}
		*slot = &Request{}
		(*slot).prepareSend(g, &op)
		g.submit(*slot)
		if rng.IntN(6) == 0 {
			so.must(g, tag, i, (*slot).Wait())
		}
	}
	so.must(g, tag, so.messages, WaitAll(context.Background(), under[:]...))
}

// must notes that something failed.
func (so *soak) must(g *Gate, tag uint64, i int, err error) {
	if err != nil {
		so.t.Errorf("seed %d, rank %d with %d, tag %#x, message %d: %v", so.seed, g.ownRank, g.rank, tag, i, err)
	}
}

// recvAll receives all messages of one tag from a gate, each in another way.
func (so *soak) recvAll(g *Gate, tag uint64) {
	rng := so.dice(g, tag, 4)
	for i := range so.messages {
		want := so.message(g.rank, g.ownRank, tag, i)
		buf := make([]byte, len(want)+rng.IntN(3))
		n, err := so.recvOne(g, tag, buf, rng)
		if so.must(g, tag, i, err); err != nil {
			return // what would come in the place of this one says nothing
		}
		if n != len(want) || !bytes.Equal(buf[:n], want) {
			so.t.Errorf("seed %d, rank %d from %d, tag %#x: %s", so.seed, g.ownRank, g.rank, tag, so.wrong(g, tag, i, buf[:n]))
			return
		}
		so.moved.Add(1)
	}
}

// wrong says what has come in the place of the i-th message.
func (so *soak) wrong(g *Gate, tag uint64, i int, got []byte) string {
	for k := range so.messages {
		if bytes.Equal(got, so.message(g.rank, g.ownRank, tag, k)) {
			return fmt.Sprintf("message %d has come in the place of message %d", k, i)
		}
	}
	return fmt.Sprintf("message %d of %d bytes came damaged, with %d bytes", i, len(so.message(g.rank, g.ownRank, tag, i)), len(got))
}

func (so *soak) recvOne(g *Gate, tag uint64, buf []byte, rng *rand.Rand) (int, error) {
	var r *Request
	switch rng.IntN(8) {
	case 0:
		if _, err := g.Probe(context.Background(), Tag(tag)); err != nil {
			return 0, err
		}
		m := g.Claim(Tag(tag))
		if m == nil {
			return 0, fmt.Errorf("what the probe has found is not there")
		}
		return m.Recv(buf)
	case 1:
		r = g.Start(&Operation{Kind: KindRecv, Match: Match{Tag: tag, Mask: 1<<48 - 1}, Buf: buf})
	case 2:
		r = g.Start(&Operation{Kind: KindRecv, Match: Tag(tag), Parts: inParts(buf, 1+rng.IntN(5000), rng.IntN(3))})
	case 3, 4:
		for r = g.Irecv(tag, buf); r.Cancel(); r = g.Irecv(tag, buf) { // found, or tried again
			if rng.IntN(3) == 0 {
				return g.Recv(tag, buf)
			}
			marcel.Sleep(time.Duration(rng.IntN(300)) * time.Microsecond)
		}
	case 5:
		r = &Request{}
		r.prepareRecv(g, &Operation{Kind: KindRecv, Match: Tag(tag), Choose: func(e Envelope) []byte { return buf[:min(uint64(len(buf)), e.Size)] }})
		r.setAge(exact)
		g.submit(r)
	default:
		return g.Recv(tag, buf)
	}
	err := r.Wait()
	return r.Len(), err
}

// recvAny receives, from whichever process, what all of them send to one with anyTag.
func (so *soak) recvAny(own *Session) {
	rng := so.dice(own.Gate(own.Rank()), anyTag, 5)
	next := make([]int, own.Size())
	buf := make([]byte, 1<<20)
	for range own.Size() * so.messages {
		var e Envelope
		var err error
		switch rng.IntN(4) {
		case 0:
			if e, err = own.Probe(context.Background(), Tag(anyTag)); err == nil {
				_, err = own.Gate(e.Source).Recv(anyTag, buf)
			}
		case 1:
			r := own.Irecv(Tag(anyTag), buf)
			for r.Cancel() {
				r = own.Irecv(Match{Tag: anyTag, Mask: anyTag}, buf)
				if rng.IntN(2) == 0 {
					break
				}
			}
			err = r.Wait()
			e = r.Envelope()
		default:
			e, err = own.Recv(Tag(anyTag), buf)
		}
		g := own.Gate(e.Source)
		if so.must(g, anyTag, next[g.rank], err); err != nil {
			return
		}
		want := so.message(g.rank, g.ownRank, anyTag, next[g.rank])
		if e.Size != uint64(len(want)) || !bytes.Equal(buf[:e.Size], want) {
			so.t.Errorf("seed %d, rank %d from any, which is %d: %s", so.seed, g.ownRank, g.rank, so.wrong(g, anyTag, next[g.rank], buf[:e.Size]))
			return
		}
		next[g.rank]++
		so.moved.Add(1)
	}
}
