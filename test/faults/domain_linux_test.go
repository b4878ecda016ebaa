package faults

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// domainKinds are the kinds of domains that a rank may have beside the job.
var domainKinds = []struct {
	name string
	cfg  nmad.DomainConfig
}{
	{"shared", nmad.DomainConfig{}},
	{"serialized", nmad.DomainConfig{Access: nmad.Serialized}},
	{"fine", nmad.DomainConfig{Access: nmad.Fine}},
	{"explicit", nmad.DomainConfig{Access: nmad.Serialized, Progress: nmad.Explicit}},
	{"private", nmad.DomainConfig{Access: nmad.Private}},
	{"worker", nmad.DomainConfig{Progress: nmad.Worker, Worker: nmad.WorkerConfig{SendBuffer: 4 << 10}}}, // which fills
	{"worker thread", nmad.DomainConfig{Progress: nmad.Worker, Worker: nmad.WorkerConfig{Thread: &marcel.Attr{Name: "worker"}}}},
	{"offloaded", nmad.DomainConfig{Offload: nmad.OffloadIdle}},
}

// drawDomains draws of which kind the domains of each rank are.
func (p *plan) drawDomains(rng *rand.Rand) {
	for range []int{0, 0, 1, 2}[rng.IntN(4)] {
		var of []int
		for range p.Size {
			of = append(of, rng.IntN(len(domainKinds)))
		}
		p.Domains = append(p.Domains, of)
	}
}

// inDomain has a rank exchange messages with all through a domain of its own, which it closes afterwards: what its
// peers have not received yet, such as what lies in the send buffer of a worker, they get.
func (t *traffic) inDomain(number int, peers []int) {
	kind := domainKinds[t.p.Domains[number-1][t.s.Rank()]]
	cfg := kind.cfg
	cfg.Number = number
	d, err := t.s.Domain(cfg)
	if err != nil {
		t.b.bad("%s domain %d: %v", kind.name, number, err)
		return
	}
	u := &traffic{p: t.p, s: t.s, d: d, b: t.b}
	if cfg.Access == nmad.Private {
		u.alone(peers)
	} else {
		u.exchange(1, peers)
	}
	if err := d.Close(); err != nil && t.p.Kind.harmless() {
		t.b.bad("close the %s domain: %v", kind.name, err)
	}
}

// alone is exchange for the owner of a private domain.
func (t *traffic) alone(peers []int) {
	type end struct {
		stream
		r      *nmad.Request
		buf    []byte
		failed bool
	}
	var in, out []*end
	for _, peer := range peers {
		for n := range t.p.Streams {
			in = append(in, &end{stream: stream{t.p, peer, t.s.Rank(), t.tag(1, n)}})
			out = append(out, &end{stream: stream{t.p, t.s.Rank(), peer, t.tag(1, n)}})
		}
	}
	rng := stream{t.p, t.s.Rank(), t.s.Rank(), t.tag(1, 0)}.dice(6)
	for i := range t.p.Messages {
		marcel.Sleep(time.Duration(rng.Int64N(int64(t.p.Pace))))
		began := time.Now()
		for _, x := range in {
			x.buf = make([]byte, x.size(i))
			x.r = t.d.Gate(x.from).Irecv(x.tag, x.buf)
		}
		for _, x := range out {
			if x.r = nil; !x.failed {
				x.r = t.d.Gate(x.to).Isend(x.tag, x.message(i))
			}
		}
		for _, x := range in {
			if err := x.r.Wait(); x.failed {
				if err == nil {
					t.b.bad("%v: message %d is lost, and something is received in its place", x.stream, i)
				}
			} else if x.failed = t.b.failed("recv", x.from, began, err); x.failed {
				t.b.guard(x.buf, fmt.Sprintf("%v, message %d, private", x.stream, i))
			} else if wrong := x.wrong(x.buf[:x.r.Len()], i); wrong != "" {
				t.b.bad("%v: %s (private)", x.stream, wrong)
			} else {
				t.b.moved(false, false)
			}
		}
		for _, x := range out {
			x.failed = x.failed || t.b.failed("send", x.to, began, x.r.Wait())
		}
	}
}
