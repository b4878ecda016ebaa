package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/nmad"
)

// lockLatency is E6, and engineInPath E8: what the locks of a domain, and the engine, add to a message between two
// threads that are alone.
var (
	lockLatency = Experiment{
		Name: "E6", Lasts: 20 * time.Second, Title: "ping-pong with no lock, a coarse-grain one, fine-grain ones, one a gate",
		Paper: "TBD09 fig. 3", Published: "coarse-grain +140 ns, fine-grain +230 ns; the bandwidth is unchanged",
		Iters: 20000, Rounds: 9, Parts: true, Pair: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runAccess(ctx, o, s, []int{1, 1 << 10, 16 << 10, 1 << 20}, lockKinds)
		},
	}
	engineInPath = Experiment{
		Name: "E8", Lasts: 10 * time.Second, Title: "the progress engine in the path of a message, under coarse-grain and fine-grain locks",
		Paper: "TBD09 fig. 6", Published: "the engine adds 200 ns",
		Iters: 20000, Rounds: 9, Parts: true, Pair: true,
		Run: func(ctx context.Context, o Options, s *Sink) error {
			return runAccess(ctx, o, s, []int{1}, engineKinds)
		},
	}
)

const kindAccess = "latency in a domain"

// accessKind is a kind of domain. base is the index of the one that it is compared with.
type accessKind struct {
	name   string
	base   int
	hooked bool
	cfg    nmad.DomainConfig
}

var (
	lockKinds = []accessKind{
		{"no lock (private)", 0, false, nmad.DomainConfig{Access: nmad.Private}},
		{"coarse (serialized)", 0, false, nmad.DomainConfig{Access: nmad.Serialized, Progress: nmad.Explicit}},
		{"fine", 0, false, nmad.DomainConfig{Access: nmad.Fine, Progress: nmad.Explicit}},
		{"a lock a gate (shared)", 0, false, nmad.DomainConfig{Progress: nmad.Explicit}},
	}
	engineKinds = []accessKind{
		{"coarse, calls alone", 0, false, nmad.DomainConfig{Access: nmad.Serialized, Progress: nmad.Explicit}},
		{"coarse, the engine", 0, true, nmad.DomainConfig{Access: nmad.Serialized}},
		{"fine, calls alone", 2, false, nmad.DomainConfig{Access: nmad.Fine, Progress: nmad.Explicit}},
		{"fine, the engine", 2, true, nmad.DomainConfig{Access: nmad.Fine}},
		{"a lock a gate, calls alone", 4, false, nmad.DomainConfig{Progress: nmad.Explicit}},
		{"a lock a gate, the engine", 4, true, nmad.DomainConfig{}},
	}
)

// runAccess plays ping-pong with messages of some sizes in domains of some kinds, in turns.
func runAccess(ctx context.Context, o Options, s *Sink, sizes []int, kinds []accessKind) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		var variants []Variant
		for _, size := range sizes {
			first, at := len(variants), float64(size)
			for _, k := range kinds {
				variants = append(variants, Variant{
					Name: "shm", Variant: k.name, Base: first + k.base, Parameter: "size, B", Value: &at, Where: placeOf(p),
					Measure: func() ([]float64, error) { return accessLatency(ctx, p, k, size, max(o.Iters>>(size/(8<<10)), 200)) },
				})
			}
		}
		all, err := measure(ctx, o, s, variants, "one way; a thread on either side, which does nothing else")
		if err != nil {
			return err
		}
		var shortest []Row
		for _, r := range all {
			if *r.Value == float64(sizes[0]) {
				shortest = append(shortest, r)
			}
		}
		return drawSpreads(s, fmt.Sprintf("%d B over shm", sizes[0]), "one-way latency", shortest)
	})
}

// accessLatency is latency through domains of a kind on both sides.
func accessLatency(ctx context.Context, p *duo.Pair, k accessKind, size, iters int) ([]float64, error) {
	o := duo.Order{Kind: kindAccess, Iters: iters, Size: size, Count: int(k.cfg.Access)<<8 | int(k.cfg.Progress)}
	return onPair(ctx, p, duo.Setup{Driver: "shm", Hooked: k.hooked}, o, func(w *duo.World) ([]float64, error) {
		g, err := accessGate(w, &o)
		if err != nil {
			return nil, err
		}
		return ping(g, size, iters)
	})
}

// accessOther is rank 1's side.
func accessOther(w *duo.World, o *duo.Order) error {
	g, err := accessGate(w, o)
	if err != nil {
		return err
	}
	return pong(g, latencyTag, o.Size)
}

// accessGate opens the domain that an order says.
func accessGate(w *duo.World, o *duo.Order) (*nmad.Gate, error) {
	d, err := w.Session.Domain(nmad.DomainConfig{Number: 1, Access: nmad.Access(o.Count >> 8), Progress: nmad.Progress(o.Count & 0xff)})
	if err != nil {
		return nil, err
	}
	return d.Gate(w.Gate.Rank()), nil
}
