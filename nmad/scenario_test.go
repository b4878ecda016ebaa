package nmad

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/internal/test/simnet"
	"github.com/pm2-go/pm2/nmad/strategy"
)

var update = flag.Bool("update", false, "write what the scenarios in testdata do now as what they should do")

// TestScenarios runs testdata/*.txt: protocol scenarios over a simulated link, to be
// read as documentation. Lines that begin with a bar are what the command
// above them prints.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			was, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			is := runScenario(t, string(was))
			if *update {
				if err := os.WriteFile(file, []byte(is), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if is != string(was) {
				t.Errorf("%s went otherwise (run with -update to accept):\n%s", file, firstDifference(string(was), is))
			}
		})
	}
}

func firstDifference(was, is string) string {
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\nwant %s\ngot  %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(a), len(b))
}

// scenario is one text in progress.
type scenario struct {
	t    *testing.T
	p    *pair
	reqs map[string]*Request
	msgs map[string]*Message
	sess [2]*Session
	data map[string][]byte // of sends, by name
	bufs map[string][]byte // of receives, by name
	out  strings.Builder
}

func runScenario(t *testing.T, text string) string {
	s := &scenario{t: t}
	s.reset(nil)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "| ") {
			continue
		}
		s.out.WriteString(line + "\n")
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		for reply := range strings.Lines(s.run(words)) {
			s.out.WriteString("| " + strings.TrimRight(reply, "\n") + "\n")
		}
	}
	return s.out.String()
}

// args are words of the form name=number.
type args map[string]int64

func parseArgs(words []string) args {
	a := args{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		n, err := strconv.ParseInt(value, 0, 64)
		if err != nil {
			n = -1
		}
		a[name] = n
	}
	return a
}

func (ar args) or(name string, other int64) int64 {
	if n, ok := ar[name]; ok {
		return n
	}
	return other
}

func (sc *scenario) reset(a args) {
	window, records := a.or("window", 1<<20), int(a.or("records", 1000))
	rails := make([]simnet.Options, a.or("rails", 1))
	for i := range rails { // rate0= is that of the first rail in bytes per tick, and so on
		rails[i] = simnet.Options{
			MaxBody: int(a.or("maxbody", 64)), Packets: int(a.or("packets", 8)), Large: int(a.or("large", 256)),
			Rate: int(a.or(fmt.Sprint("rate", i), a.or("rate", 0))), Syscalls: a.or("batch", 0) != 0, // packets that leave together take one call
		}
	}
	sc.p = newPair(rails[0], bounds{Bounds: flow.Bounds{Window: window, Records: records, PeerWindow: window, PeerRecords: records}}, rails[1:]...)
	sc.reqs, sc.data, sc.bufs = map[string]*Request{}, map[string][]byte{}, map[string][]byte{}
	sc.msgs = map[string]*Message{}
	for i := range sc.sess {
		sc.sess[i] = sc.p.session(i)
	}
}

func (sc *scenario) run(words []string) string {
	switch words[0] {
	case "net":
		sc.reset(parseArgs(words[1:]))
		return ""
	case "strategy":
		for _, g := range sc.p.gates {
			if g.locked.flow.Strategy, _ = strategy.Lookup(words[1]); g.locked.flow.Strategy == nil {
				return "what is " + words[1] + "?\n"
			}
		}
		return ""
	case "settle":
		sc.p.settle()
		return ""
	case "show":
		return sc.show(words[1:])
	case "break":
		sc.p.rails[parseArgs(words[1:]).or("rail", 0)][0].Break(driver.ErrPeerLost)
		return ""
	case "cost": // what is assumed of a rail: latency in ns, bandwidth in bytes per us
		a := parseArgs(words[1:])
		for _, g := range sc.p.gates {
			g.locked.flow.Rails[a.or("rail", 0)].Cost = strategy.Cost{Latency: a.or("latency", 0), Bandwidth: float64(a.or("bandwidth", 0)) / 1000}
		}
		return ""
	case "ticks":
		for range parseArgs(words[1:]).or("n", 1) {
			sc.p.tick()
		}
		return ""
	case "until": // time passes until a request is done
		for n := range 1_000_000 {
			if sc.reqs[words[1]].core.Stage == flow.Finished {
				return fmt.Sprintf("after %d ticks\n", n)
			}
			sc.p.tick()
		}
		return "never\n"
	}
	side, err := strconv.Atoi(words[0])
	if err != nil || side < 0 || side > 1 || len(words) < 2 {
		return "what is " + strings.Join(words, " ") + "?\n"
	}
	return sc.sideRun(side, words[1], words[2:])
}

func (sc *scenario) sideRun(side int, verb string, rest []string) string {
	g, link := sc.p.gates[side], sc.p.links[side]
	a := parseArgs(rest)
	switch verb {
	case "isend":
		name := rest[0]
		sc.data[name] = pattern(int(a.or("len", 0)), uint64(len(sc.data)+1))
		sc.reqs[name] = g.Isend(uint64(a.or("tag", 0)), sc.data[name])
	case "issend", "iself", "isendp": // synchronously; to the own rank; with a priority and in parts
		name := rest[0]
		sc.data[name] = pattern(int(a.or("len", 0)), uint64(len(sc.data)+1))
		r := &Request{}
		op := Operation{Match: Tag(uint64(a.or("tag", 0))), Buf: sc.data[name], Sync: verb == "issend", Priority: int8(a.or("prio", 0))}
		if verb == "isendp" {
			op.Parts = inParts(op.Buf, 3, 0, 7)
		}
		if verb == "iself" {
			g = sc.sess[side].job.gates.at(side)
		}
		r.prepareSend(g, &op)
		g.submit(r)
		sc.reqs[name] = r
	case "irecv", "irecvany": // from the other rank; from any
		name := rest[0]
		sc.bufs[name] = make([]byte, a.or("cap", 0))
		m := Match{Tag: uint64(a.or("tag", 0)), Mask: uint64(a.or("mask", -1))}
		if verb == "irecv" {
			sc.reqs[name] = g.Start(&Operation{Kind: KindRecv, Match: m, Buf: sc.bufs[name]})
		} else {
			sc.reqs[name] = sc.sess[side].Irecv(m, sc.bufs[name])
		}
	case "cancel":
		return fmt.Sprintln("canceled:", sc.reqs[rest[0]].Cancel())
	case "iprobe", "iprobeany":
		m := Match{Tag: uint64(a.or("tag", 0)), Mask: uint64(a.or("mask", -1))}
		e, ok := g.Iprobe(m)
		if verb == "iprobeany" {
			e, ok = sc.sess[side].Iprobe(m)
		}
		if !ok {
			return "nothing\n"
		}
		return fmt.Sprintf("rank %d, tag %d, %d bytes\n", e.Source, e.Tag, e.Size)
	case "claim":
		m := g.Claim(Match{Tag: uint64(a.or("tag", 0)), Mask: uint64(a.or("mask", -1))})
		if m == nil {
			return "nothing\n"
		}
		sc.msgs[rest[0]] = m
		return fmt.Sprintf("rank %d, tag %d, %d bytes\n", m.Source, m.Tag, m.Size)
	case "receive": // a claimed message
		sc.bufs[rest[0]] = make([]byte, sc.msgs[rest[0]].Size)
		sc.reqs[rest[0]] = sc.msgs[rest[0]].Irecv(sc.bufs[rest[0]])
	case "counters":
		f := &g.locked.flow
		return fmt.Sprintf("%d sends, %d announced first, %d messages in %d aggregates\n",
			f.Stats.Sends, f.Stats.Rendezvous, f.Stats.Aggregated, f.Stats.Aggregates)
	case "calls":
		packets, calls := link.Carried()
		return fmt.Sprintf("%d packets in %d calls\n", packets, calls)
	case "poll":
		for range a.or("times", 1) {
			g.poll()
		}
	case "pollsmall": // as if another one carried the bytes of the large track just now
		h := g.lock()
		h.progress(nil)
		h.unlock()
	case "hold", "buffer", "delay":
		on := rest[0] == "on"
		map[string]func(bool){"hold": link.Hold, "buffer": link.Buffer, "delay": link.Delay}[verb](on)
	case "deliver":
		link.Deliver(int(a.or("packets", 1)))
	case "inject":
		sc.inject(link, rest[0], a)
	case "arm":
		return fmt.Sprintln("armed:", railSource{&g.rails[a.or("rail", 0)]}.Arm())
	case "disarm":
		railSource{&g.rails[a.or("rail", 0)]}.Disarm()
	case "woken":
		return fmt.Sprintln("woken:", link.Woken())
	case "close":
		g.beginClose(ErrClosed)
	case "bye":
		g.sayBye()
	case "retire":
		h := g.lock()
		over := h.flushed()
		h.unlock()
		return fmt.Sprintln("nothing left to send:", over)
	case "state":
		return sc.state(g)
	case "rails":
		return sc.rails(g)
	default:
		return "what is " + verb + "?\n"
	}
	return ""
}

var kinds = []string{"", "eager", "rdv", "rtr", "credit", "bye", "byeack", "aggregate"}

func (sc *scenario) inject(link *simnet.Link, kind string, a args) {
	h := driver.Header{
		Kind: uint8(max(slices.Index(kinds, kind), 0)), Flags: uint8(a.or("flags", 0)),
		Tag: uint64(a.or("tag", 0)), Size: uint64(a.or("size", 0)),
		Cookie: uint32(a.or("cookie", 0)), Seq: uint32(a.or("seq", 0)),
	}
	if kind == "eager" || kind == "rdv" {
		h.Context = flow.DefaultContext
	}
	body := make([]byte, a.or("body", 0))
	if kind == "aggregate" { // the messages in it: first=, second= are their sizes
		for _, name := range []string{"first", "second"} {
			if n, ok := a[name]; ok {
				body = binary.LittleEndian.AppendUint64(body, 7)
				body = binary.LittleEndian.AppendUint64(body, uint64(n)|uint64(flow.DefaultContext)<<48)
				body = append(body, make([]byte, min(n, 50))...)
			}
		}
	}
	h.Body = uint32(a.or("claims", int64(len(body))))
	link.Inject(h, body)
}

// show prints the requests of these names.
func (sc *scenario) show(names []string) string {
	var b strings.Builder
	for _, name := range names {
		r := sc.reqs[name]
		if r == nil {
			fmt.Fprintf(&b, "%s: no such request\n", name)
			continue
		}
		fmt.Fprintf(&b, "%s: %v", name, r.core.Stage)
		if r.core.Stage == flow.Finished {
			fmt.Fprintf(&b, ", %d bytes", r.Len())
			if buf := sc.bufs[name]; buf != nil && r.Len() > 0 {
				fmt.Fprintf(&b, " of %s", sc.whose(buf[:r.Len()]))
			}
			if r.core.Err() != nil {
				fmt.Fprintf(&b, ", %s", sentinel(r.core.Err()))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// whose names the send that these bytes are the beginning of.
func (sc *scenario) whose(b []byte) string {
	for name, data := range sc.data {
		if bytes.HasPrefix(data, b) {
			return name
		}
	}
	return "no send"
}

func sentinel(err error) string {
	for name, e := range map[string]error{
		"ErrTruncated": ErrTruncated, "ErrPeerLost": ErrPeerLost, "ErrProtocol": ErrProtocol, "ErrClosed": ErrClosed,
		"ErrCanceled": ErrCanceled,
	} {
		if errors.Is(err, e) {
			return name
		}
	}
	return err.Error()
}

// rails prints what has come in over each rail, and what is on the way.
func (sc *scenario) rails(g *Gate) string {
	var b strings.Builder
	for i := range g.rails {
		in := g.rails[i].pull.stream
		chunks, _ := in.Waits()
		fmt.Fprintf(&b, "rail %d: %d bytes in %d chunks, %d chunks to come\n", i, in.Bytes, in.Chunks, chunks)
	}
	return b.String()
}

// state prints what a gate holds.
func (sc *scenario) state(g *Gate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "posted %d, unexpected %d (%d bytes), announced here %d, there %d, credit %d, taken %d, owed %d, pending %d\n",
		g.locked.flow.Ledger().Posted, g.locked.flow.Ledger().Unexpected, g.locked.flow.Stats.UnexpectedBytes, g.locked.flow.Ledger().Announced, g.locked.flow.Ledger().Outstanding,
		g.locked.flow.Ledger().Credit, g.locked.flow.Ledger().Taken, g.locked.flow.Ledger().Owed, g.waitEngine.Pending())
	if g.locked.endErr != nil {
		fmt.Fprintf(&b, "ended: %v\n", g.locked.endErr)
	}
	if g.locked.flow.Acked() {
		b.WriteString("the peer has taken in everything\n")
	}
	return b.String()
}
