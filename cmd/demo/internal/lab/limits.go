package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/am"
	"github.com/pm2-go/pm2/nmad/rma"
)

// memoryLimits is E29: what can be registered, by how many domains reach it.
var memoryLimits = Experiment{
	Name:      "E29",
	Lasts:     10 * time.Second,
	Title:     "memory that a process can register, and what that takes, against the number of domains",
	Paper:     "IY14 table 1",
	Published: "a thread registers 512 MB with 1 or 2 domains, 256 with 4, 128 with 8, 64 with 24 with small pages; 8 to 4 GB with huge ones",
	Iters:     4000,
	Rounds:    1,
	Pair:      true,
	Run:       runMemoryLimits,
}

const kindLimits = "limits of registered memory"

// domainCounts are those of the paper's table.
var domainCounts = []int{1, 2, 4, 8, 24}

// LimitRow is what was had with some domains. All of it was allocated.
type LimitRow struct {
	Name        string  `json:"name"`
	Domains     int     `json:"domains"`
	Largest     float64 `json:"largest_bytes"`    // one Alloc, of each process
	Total       float64 `json:"total_bytes"`      // of Alloc, at once, of each process
	Mapped      float64 `json:"mapped_bytes"`     // of the other process here, by then: address space
	Stopped     string  `json:"stopped"`          // what refused more
	Regions     int     `json:"regions"`          // of Make at once
	RegionsStop string  `json:"regions_stopped"`  // what refused more
	Descriptors int     `json:"descriptors"`      // that each of these takes, times 100
	PerDomain   float64 `json:"bytes_per_domain"` // of Go's heap, of a domain of nmad/rma
	PerMessages float64 `json:"bytes_per_am"`     // of Go's heap, of a domain of nmad/am that has exchanged a message
	Reached     int     `json:"domains_reached"`  // domains that have written the first and the last byte of the largest part
	Where       string  `json:"where"`
}

// Head implements report.Row.
func (r LimitRow) Head() string { return r.BriefHead() }

// Line implements report.Row.
func (r LimitRow) Line() string {
	return r.BriefLine() + "  " + r.BriefNote() + "; stopped: " + r.Stopped + "; regions: " + r.RegionsStop
}

// BriefHead implements report.Brief.
func (LimitRow) BriefHead() string {
	return "# Allocated, not touched but for its first and last byte, by each domain. Largest: one Alloc. Total: at once, of each process. More: --wide.\n" +
		fmt.Sprintf("# %7s %8s %10s %10s %10s %8s %11s %9s %9s", "Domains", "Reached", "Largest", "Total", "Mapped", "Regions", "Descr. each", "B/rma", "B/am")
}

// BriefLine implements report.Brief.
func (r LimitRow) BriefLine() string {
	return fmt.Sprintf("  %7d %8d %10s %10s %10s %8d %11s %9.0f %9.0f", r.Domains, r.Reached, tebi(r.Largest), tebi(r.Total), tebi(r.Mapped),
		r.Regions, strconv.FormatFloat(float64(r.Descriptors)/100, 'f', 2, 64), r.PerDomain, r.PerMessages)
}

// tebi writes bytes in units of 1<<40.
func tebi(bytes float64) string { return strconv.FormatFloat(bytes/(1<<40), 'f', 2, 64) + " TiB" }

// BriefNote implements report.Brief.
func (r LimitRow) BriefNote() string { return r.Where }

func runMemoryLimits(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		if p.Far != "" {
			return allSkipped(s, "memory", "it is mapped between processes of one host, and the ranks are "+p.Far)
		}
		if err := s.Begin("each domain reaches all memory; nothing is registered per domain", "memory is provided as it is touched: what can be used at once the machine's memory limits"); err != nil {
			return err
		}
		var all []LimitRow
		for i, n := range domainCounts {
			r := LimitRow{Name: "nmad/rma", Domains: n, Where: placeOf(p)}
			s.Label(fmt.Sprint(n, " domains"))
			mine, theirs := setups(p, duo.Setup{Driver: "shm", Hooked: true})
			order := duo.Order{Kind: kindLimits, Setup: theirs, Iters: o.Iters, Count: n}
			if err := p.Do(ctx, order, mine, func(w *duo.World) error { return r.find(w, &order) }); err != nil {
				return fmt.Errorf("%d domains: %w", n, err)
			}
			if err := s.Row(r); err != nil {
				return err
			}
			all = append(all, r)
			s.Step(i+1, len(domainCounts))
		}
		if s.Plot == nil {
			return nil
		}
		panel := figure.Panel{X: "domains", Y: "TiB that a process registers", Zero: true}
		total := figure.Curve{Name: "at once"}
		for _, r := range all {
			panel.Places, total.Y = append(panel.Places, strconv.Itoa(r.Domains)), append(total.Y, r.Total/(1<<40))
		}
		panel.Curves = []figure.Curve{total}
		return figure.Curves(s.Plot, s.Title("registered memory"), panel)
	})
}

// limitsOther is rank 1's part: Alloc is collective, and ends alike at both.
func limitsOther(w *duo.World, o *duo.Order) error { return new(LimitRow).find(w, o) }

// find allocates memory until an allocation is refused. Both processes call it.
func (r *LimitRow) find(w *duo.World, o *duo.Order) error {
	world, err := rma.Open(w.Session)
	if err != nil {
		return err
	}
	before := heap()
	var ds []*rma.Domain
	for range o.Count {
		d, err := world.Domain(rma.DomainConfig{})
		if err != nil {
			return err
		}
		ds = append(ds, d)
	}
	r.PerDomain = (heap() - before) / float64(o.Count)
	if err := r.segments(w, world, ds); err != nil {
		return err
	}
	if err := r.regions(world, o.Iters); err != nil {
		return err
	}
	if err := world.Close(); err != nil {
		return err
	}
	return r.messages(w, o.Count)
}

// segments doubles the size of one Alloc, and then has as many of the largest as there can be.
func (r *LimitRow) segments(w *duo.World, world *rma.World, ds []*rma.Domain) error {
	const first, most = 1 << 20, 1024
	largest := 0
	for n := first; ; n *= 2 {
		seg, err := world.Alloc(n)
		if err != nil {
			if !errors.Is(err, rma.ErrSize) {
				return err
			}
			break
		}
		largest = n
		if err := seg.Free(); err != nil {
			return err
		}
	}
	r.Largest = float64(largest)
	var segs []*rma.Segment
	for len(segs) < most {
		seg, err := world.Alloc(largest)
		if err != nil {
			if !errors.Is(err, rma.ErrSize) {
				return err
			}
			r.Stopped = err.Error()
			break
		}
		segs = append(segs, seg)
		r.Total += float64(largest)
	}
	r.Mapped = float64(world.Limits().Mapped)
	for i, d := range ds {
		for _, seg := range segs {
			for _, at := range []uint64{0, seg.Len() - 8} {
				if err := d.Put(seg.At(w.Gate.Rank(), at), []byte{byte(i)}); err != nil {
					return err
				}
			}
		}
		r.Reached++
	}
	for _, seg := range segs {
		if err := seg.Free(); err != nil {
			return err
		}
	}
	return nil
}

// regions makes regions until one is refused, at most so many.
func (r *LimitRow) regions(world *rma.World, most int) error {
	before := descriptors()
	var all []*rma.Region
	for len(all) < most {
		g, err := world.Make(4096)
		if err != nil {
			r.RegionsStop = err.Error()
			break
		}
		all = append(all, g)
	}
	r.Regions = len(all)
	if r.RegionsStop == "" {
		r.RegionsStop = fmt.Sprintf("none of %d was refused; --iters asks for more, of at most %d", most, rma.MaxRegions)
	}
	if len(all) > 0 {
		r.Descriptors = 100 * (descriptors() - before) / len(all)
	}
	for _, g := range all {
		if err := g.Close(); err != nil {
			return err
		}
	}
	return nil
}

// messages is what a domain of active messages takes.
func (r *LimitRow) messages(w *duo.World, n int) error {
	m, err := am.Open(w.Session, am.Config{})
	if err != nil {
		return err
	}
	if err := m.Handle(echoID, func(t *am.Token, _ []uint64, body []byte) { _ = t.Reply(nil, body) }); err != nil {
		return err
	}
	before := heap()
	var ds []*am.Domain
	for k := range n {
		d, err := m.Domain(am.DomainConfig{Number: 1 + k, Access: nmad.Shared})
		if err != nil {
			return err
		}
		ds = append(ds, d)
	}
	for _, d := range ds {
		var reply am.Reply
		if err := d.RequestFor(&reply, w.Gate.Rank(), echoID, nil, nil); err != nil {
			return err
		}
		if _, _, err := reply.Wait(); err != nil {
			return err
		}
	}
	r.PerMessages = (heap() - before) / float64(n)
	if err := both(w); err != nil { // what closes answers no more
		return err
	}
	return m.Close()
}

// both returns once the two processes have called it.
func both(w *duo.World) error {
	var b [1]byte
	if err := w.Gate.Send(warmTag, b[:]); err != nil {
		return err
	}
	_, err := w.Gate.Recv(warmTag, b[:])
	return err
}

// heap is what was allocated in Go's heap until now, in bytes.
func heap() float64 {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.TotalAlloc)
}

// descriptors are those of the process that are open.
func descriptors() int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(all)
}
