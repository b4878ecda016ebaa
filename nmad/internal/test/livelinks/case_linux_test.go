package livelinks

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math"
	mrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/driver/fault"
	"github.com/pm2-go/pm2/nmad/internal/test/proxy"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// liveCase is a job whose links and control connection go through proxies that alter what passes. Its seed decides
// all of it, and the processes that take part each make it anew.
type liveCase struct {
	seed   uint64
	apart  bool     // each rank is a process of its own
	theme  string   // what is altered
	rails  []string // drivers
	shm    bool     // one of them is shm
	size   int
	config nmad.Config // what is the same for all ranks
	copies string      // PM2_SHM_COPY
	leaver int         // a rank that closes while it works; -1: none
	lends  bool        // messages are loaned, where that is possible
	spared bool        // nothing is altered or cut: all must go well

	control proxy.Plan
	links   [][]proxy.Plan // of the proxies before the endpoints, by rank and rail
}

// apartEvery is how many seeds have one among them whose ranks are processes.
const apartEvery = 5

// liveRails are the networks of a case.
var liveRails = []string{"tcp", "tcp", "unix", "unix", "shm", "shm", "tcp,unix", "unix,unix", "shm,tcp"}

// liveThemes are what can be altered, with weights; shm is what goes over shared memory.
var liveThemes = []struct {
	name    string
	weight  int
	sockets bool // over tcp and unix
	shm     bool // over shm, as the first rail
}{
	{"nothing", 6, true, true},
	{"cuts", 14, true, true},
	{"handshake", 18, true, true},
	{"payload", 10, true, false},
	{"headers", 20, true, false},
	{"anything", 18, true, false},
	{"control", 12, true, true},
	{"strangers", 8, true, true},
	{"rights", 8, false, true},
	{"scribbles", 24, false, true},
}

func newLiveCase(seed uint64) *liveCase {
	rng := mrand.New(mrand.NewPCG(seed, 0x11f3))
	c := &liveCase{seed: seed, apart: seed%apartEvery == 0, leaver: -1}
	c.rails = strings.Split(liveRails[rng.IntN(len(liveRails))], ",")
	c.shm = c.rails[0] == "shm"
	c.size = 2 + rng.IntN(2)
	c.copies = []string{"auto", "single", "two"}[rng.IntN(3)]
	c.config = nmad.Config{
		Size: c.size, Link: []string{nmad.LinkAll, nmad.LinkLazy}[rng.IntN(2)], Unexpected: 64 << 10 << rng.IntN(4),
		Announced: 1 << (2 + rng.IntN(10)), Loans: 1 << 20, Timeout: 4 * time.Second, Linger: 500 * time.Millisecond,
	}
	c.config.Eager = []int{0, 0, 200, 5000}[rng.IntN(4)]
	c.theme = drawTheme(rng, c.shm)
	if c.theme != "payload" {
		c.config.Strategy = append(strategy.Names(), "", "")[rng.IntN(2+len(strategy.Names()))]
	}
	c.links = make([][]proxy.Plan, c.size)
	rough := rng.IntN(2) == 0
	for i := range c.links {
		c.links[i] = make([]proxy.Plan, len(c.rails))
		for k := range c.links[i] {
			p := &c.links[i][k]
			p.Seed = seed + uint64(i)<<32 + uint64(k)<<40
			if rough {
				p.Short, p.Delay = rng.Float64()/2, fault.Chance{Share: rng.Float64() / 200, For: time.Duration(1+rng.IntN(2000)) * time.Microsecond}
			}
		}
	}
	c.alter(rng)
	c.control.Seed = seed
	if c.theme != "nothing" && c.theme != "payload" && rng.IntN(8) == 0 {
		c.leaver = rng.IntN(c.size)
	}
	c.spared = c.theme == "nothing"
	// The descriptor of memory that is loaned takes longer through a proxy than the packet that it must come before.
	c.lends = !c.shm || slices.Contains([]string{"handshake", "rights", "scribbles"}, c.theme)
	if c.spared || c.theme == "payload" || c.theme == "strangers" && !c.impersonated() {
		c.config.Timeout, c.config.Linger = time.Minute, time.Minute
	}
	return c
}

// impersonated says that a proxy answers in the place of a process.
func (lc *liveCase) impersonated() bool {
	return lc.control.Play != 0 || slices.ContainsFunc(slices.Concat(lc.links...), func(p proxy.Plan) bool { return p.Play != 0 })
}

func drawTheme(rng *mrand.Rand, shm bool) string {
	total := 0
	for pass := range 2 {
		n := 0
		if pass == 1 {
			n = rng.IntN(total)
		}
		for _, t := range liveThemes {
			if shm && !t.shm || !shm && !t.sockets {
				continue
			}
			if total += t.weight; pass == 1 {
				if n -= t.weight; n < 0 {
					return t.name
				}
			}
		}
	}
	return "nothing"
}

// alter draws what the theme wants.
func (lc *liveCase) alter(rng *mrand.Rand) {
	var p proxy.Plan
	quiet := time.Duration(200+rng.IntN(400)) * time.Millisecond
	limited := rng.IntN(5) == 0 // the limits of nmad end what waits. They end no wait for lost bytes of links
	if !limited {
		p.Quiet = quiet
	}
	p.Connection = []int{0, 0, 1, 1, 1, 2, 2, 3, 4}[rng.IntN(9)]
	any := []string{"flip", "flip", "drop", "repeat", "swap", "invent", "cut", "end"}
	size := func() int { return 1 + rng.IntN(1<<rng.IntN(10)) }
	switch lc.theme {
	case "nothing":
		p = proxy.Plan{}
	case "cuts":
		p.Edits = []proxy.Edit{{Kind: []string{"cut", "end"}[rng.IntN(2)], Down: rng.IntN(2) == 0, At: farther(rng, 1<<21)}}
		if rng.IntN(4) == 0 {
			p.Edits, p.Last = nil, time.Duration(1+rng.IntN(200))*time.Millisecond
		}
	case "handshake":
		end := 180
		if limited {
			end = 60 // nothing that comes after the proofs
		}
		for range 1 + rng.IntN(3) {
			p.Edits = append(p.Edits, proxy.Edit{Kind: any[rng.IntN(len(any))], Down: rng.IntN(2) == 0, At: uint64(1 + rng.IntN(end)), Size: 1 + rng.IntN(1<<rng.IntN(min(7, end/12)))})
		}
	case "payload":
		p.Quiet, p.Last = 0, 10*time.Second // the heads of messages that share a packet may be hit, too
		for range 1 + rng.IntN(5) {
			e := proxy.Edit{Kind: "flip", Down: rng.IntN(2) == 0, Packet: farther(rng, 60), At: 33, Size: 1}
			if lc.size == 2 && lc.config.Link == nmad.LinkAll && p.Connection != 1 && rng.IntN(2) == 0 {
				p.Connection = 2 // here that is the large track
				e.Packet, e.At, e.Size = 0, 1000+farther(rng, 1<<20), size()
			}
			p.Edits = append(p.Edits, e)
		}
	case "headers":
		p.Quiet = quiet
		for range 1 + rng.IntN(2) {
			kinds := []string{"flip", "flip", "flip", "flip", "drop", "repeat", "swap", "invent"}
			p.Edits = append(p.Edits, proxy.Edit{Kind: kinds[rng.IntN(len(kinds))], Down: rng.IntN(2) == 0, Packet: farther(rng, 60), At: uint64(1 + rng.IntN(32)), Size: 1 + rng.IntN(1<<rng.IntN(6))})
		}
	case "anything":
		p.Quiet = quiet
		for range 1 + rng.IntN(4) {
			p.Edits = append(p.Edits, proxy.Edit{Kind: any[rng.IntN(len(any))], Down: rng.IntN(2) == 0, At: farther(rng, 1<<21), Size: size()})
		}
	case "control":
		p.Connection = rng.IntN(lc.size)
		for range 1 + rng.IntN(3) {
			p.Edits = append(p.Edits, proxy.Edit{Kind: any[rng.IntN(len(any))], Down: rng.IntN(2) == 0, At: farther(rng, 700), Size: 1 + rng.IntN(1<<rng.IntN(7))})
		}
		if rng.IntN(4) == 0 {
			lc.config.Heartbeat = 2 * time.Second
		}
	case "strangers":
		p.Quiet, p.Connection = 0, 0
		p.Strangers = 1 + rng.IntN(20)
		if rng.IntN(2) == 0 {
			p.Play = 1 + rng.IntN(3)
		}
	case "rights":
		p.Rights = []string{"lose", "double", "other"}[rng.IntN(3)]
	case "scribbles":
		lc.copies = "two" // no process writes where a scribbled word says
		p.Scribble = proxy.Spoil{Words: 1 + rng.IntN(1<<rng.IntN(10)), Every: time.Duration(20+rng.IntN(5000)) * time.Microsecond}
		p.Last = time.Duration(50+rng.IntN(500)) * time.Millisecond
	}
	for i := range p.Edits {
		if k := p.Edits[i].Kind; k == "cut" || k == "end" {
			p.Edits[i].Size = 0
		}
	}
	if lc.theme == "control" || lc.theme == "strangers" && rng.IntN(2) == 0 {
		lc.control = p
		return
	}
	at := rng.IntN(lc.size)
	if lc.config.Link == nmad.LinkAll { // those of lower rank are dialed
		at = rng.IntN(lc.size - 1)
	}
	all, rail := rng.IntN(5) == 0, rng.IntN(len(lc.rails))
	if lc.theme == "rights" || lc.theme == "scribbles" {
		rail = 0
	}
	for i := range lc.links {
		if q := &lc.links[i][rail]; all || i == at {
			p.Seed, p.Short, p.Delay = q.Seed, q.Short, q.Delay
			*q = p
		}
	}
}

// farther draws a number from 1 to most, small ones as often as large ones.
func farther(rng *mrand.Rand, most float64) uint64 {
	return uint64(math.Exp(rng.Float64() * math.Log(most)))
}

// String says what the case is, in one line.
func (lc *liveCase) String() string {
	where := "in one process"
	if lc.apart {
		where = "in processes"
	}
	text := fmt.Sprintf("seed %d: %s, %d ranks %s over %s, links %s", lc.seed, lc.theme, lc.size, where, strings.Join(lc.rails, ","), lc.config.Link)
	if lc.leaver >= 0 {
		text += fmt.Sprintf(", rank %d leaves early", lc.leaver)
	}
	text += fmt.Sprintf("; control: %v", lc.control)
	for i, rails := range lc.links {
		for k, p := range rails {
			text += fmt.Sprintf("; rank %d, %s: %v", i, lc.rails[k], p)
		}
	}
	return text
}

// liveOrder tells a process its part in a case.
type liveOrder struct {
	Seed       uint64
	Rank       int      // -1: all of them
	Rendezvous string   // where rank 0 listens, or where the others dial
	Listen     []string // the addresses of the endpoints, by rail
	Told       []string // what the others hear of them
}

// middle is the proxies of a case.
type middle struct {
	control *proxy.Proxy
	links   []*proxy.Proxy
	orders  []liveOrder
}

// between makes the proxies of a case. The addresses behind them are such as no other process has: names, and ports of
// loopback addresses of which there are 16 million.
func (lc *liveCase) between() (*middle, error) {
	var b [16]byte
	_, _ = rand.Read(b[:])
	address := func(i int) string {
		return fmt.Sprintf("127.%d.%d.%d:%d", 1+b[0]%250, b[1], 1+b[2]%250, 10000+(int(b[3])<<4+i)%20000)
	}
	m := &middle{}
	var err error
	if m.control, err = proxy.New(proxy.Config{Target: address(0), Plan: lc.control}); err != nil {
		return m, err
	}
	for rank := range lc.size {
		o := liveOrder{Seed: lc.seed, Rank: rank, Rendezvous: m.control.Addr()}
		if rank == 0 {
			o.Rendezvous = address(0)
		}
		for k, network := range lc.rails {
			listen := fmt.Sprintf("@pm2-live-%s-%d-%d", hex.EncodeToString(b[:]), rank, k)
			if network == "tcp" {
				listen = address(1 + rank)
			}
			p, err := proxy.New(proxy.Config{Target: listen, Plan: lc.links[rank][k]})
			if err != nil {
				return m, err
			}
			o.Listen, o.Told = append(o.Listen, listen), append(o.Told, p.Addr())
			m.links = append(m.links, p)
		}
		m.orders = append(m.orders, o)
	}
	return m, nil
}

// close ends the proxies and gives what they have altered.
func (mid *middle) close() (altered []liveAlteration, bytes uint64) {
	add := func(p *proxy.Proxy, control bool) {
		if p == nil {
			return
		}
		_ = p.Close() // the listener's error, if it has one
		up, down := p.Moved()
		bytes += up + down
		for _, a := range p.Log() {
			altered = append(altered, liveAlteration{a, control})
		}
	}
	add(mid.control, true)
	for _, p := range mid.links {
		add(p, false)
	}
	return altered, bytes
}

// liveAlteration is what a proxy has altered, of a link or of the control connection.
type liveAlteration struct {
	proxy.Alteration
	Control bool
}
