package nmad

import (
	"fmt"
	"math"
	"strings"

	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/strategy"
)

// Protocol is how messages of a range of sizes travel through a gate.
type Protocol struct {
	From, To uint64 // bytes; To is math.MaxUint64 where there is no end
	Name     string // "short", "eager", "rendezvous", ...
	Rail     string // name of the driver; of several rails all that carry a part of it if nothing else is under way, see GateInfo.Rails
	Why      string // where the bounds come from: default, environment, configuration, measured
}

// protocols are those of messages of all sizes. Under mu.
func (x *routes) protocols() []Protocol {
	if !x.g.linking.linked() {
		return []Protocol{{0, math.MaxUint64, "link, then as it says", x.railNames(nil), "nothing was sent yet"}}
	}
	return append(x.eagerRows(), x.rendezvousRows()...)
}

// routes is up to which size the messages of a gate go eagerly, and why: which way a message takes follows from that, and from
// what its rails cost, which is the flow's. Under mu of the gate.
type routes struct {
	g     *Gate
	why   string // where the eager limit comes from; "": the driver
	fixed bool   // the configuration says the eager limit, so what is measured does not change it
}

// unlimit has messages of all sizes that the link takes go eagerly, to measure that.
func (x *routes) unlimit() (undo func()) {
	g := x.g
	g.mu.lock()
	defer g.letGo()
	if x.fixed {
		return func() {}
	}
	before := g.flow.Eager()
	g.flow.SetEager(0)
	return func() {
		g.mu.lock()
		g.flow.SetEager(before)
		g.letGo()
	}
}

// apply has the gate use what was measured of its rails. The order of the rails stays.
func (x *routes) apply(p *Profile) {
	g := x.g
	g.mu.lock()
	defer g.letGo()
	const why = "measured, just now"
	costs, limits := make([]strategy.Cost, len(g.rails.all)), make([]int, len(g.rails.all))
	for i := range g.rails.all {
		l := &g.rails.all[i]
		if r := p.Rails[l.name]; r.Bandwidth > 0 {
			g.flow.Rails[i].Cost = strategy.Cost{Latency: r.LatencyNs, Bandwidth: r.Bandwidth}
			l.why, l.limit = why, r.Eager
		}
		costs[i], limits[i] = g.flow.Rails[i].Cost, l.limit
	}
	if limit, rail := eagerLimit(g.flow.Strategy, costs, limits); !x.fixed && limit > 0 {
		g.flow.SetEager(limit)
		x.why = why
		if rail > 0 {
			x.why += ", beside a rendezvous over " + g.rails.all[rail].name
		}
	}
}

// limitWhy says where the eager limit comes from. Under mu.
func (x *routes) limitWhy() string {
	switch {
	case x.g.flow.Eager() != x.g.flow.Room():
		return x.why
	case x.why != "":
		return fmt.Sprintf("%s, as far as the largest packet of %s goes", x.why, x.g.rails.all[0].name)
	}
	return fmt.Sprintf("default: the largest packet of %s", x.g.rails.all[0].name)
}

// eagerRows are those of messages that go over the small track. Under mu.
func (x *routes) eagerRows() (rows []Protocol) {
	first, from := &x.g.rails.all[0], 0
	if short := min(first.short, x.g.flow.Eager()); short >= 0 {
		rows = append(rows, Protocol{0, uint64(short), "short", first.name, "default: " + first.how})
		from = short + 1
	}
	if from <= x.g.flow.Eager() {
		rows = append(rows, Protocol{uint64(from), uint64(x.g.flow.Eager()), "eager", first.name, x.limitWhy()})
	} else if x.g.flow.Eager() < first.short {
		rows[0].Why = x.limitWhy()
	}
	return rows
}

// rendezvousRows are those of messages that are announced. Under mu.
func (x *routes) rendezvousRows() (rows []Protocol) {
	costs := make([]strategy.Cost, len(x.g.rails.all))
	for i := range x.g.rails.all {
		costs[i] = x.g.flow.Rails[i].Cost
	}
	all := ranges(x.g.flow.Strategy, costs, x.g.flow.Eager()+1)
	for i, r := range all {
		row := Protocol{r.from, math.MaxUint64, "rendezvous", x.railNames(r.rails), x.limitWhy()}
		if i > 0 {
			row.Why = fmt.Sprintf("strategy %s, by what the rails cost", x.g.flow.Strategy.Name())
		}
		if i+1 < len(all) {
			row.To = all[i+1].from - 1
		}
		rows = append(rows, row)
	}
	return rows
}

// railNames lists those of some; nil: of all.
func (x *routes) railNames(some []bool) string {
	var names []string
	for i := range x.g.rails.all {
		if some == nil || some[i] {
			names = append(names, x.g.rails.all[i].name)
		}
	}
	return strings.Join(names, ", ")
}

// Exception is a circumstance in which messages take another protocol than their size says.
type Exception struct {
	When string // the circumstance
	Name string // of the protocol: "rendezvous", "aggregate", ...
	Why  string
}

// exceptions are those of the gate. Under mu.
func (x *routes) exceptions() []Exception {
	g := x.g
	if !g.linking.linked() {
		return nil
	}
	all := []Exception{
		{"a synchronous send, of any size", "rendezvous", "that the receiver asks for the bytes says that its receive is there; an empty message is asked for, too"},
		{"the receiver has no memory left for messages without a receive", "rendezvous",
			fmt.Sprintf("it keeps %d bytes from this process", g.flow.Ledger().Window)},
	}
	if g.flow.Lending() {
		all = append(all, Exception{
			fmt.Sprintf("%d bytes and more in a buffer of Alloc", flow.LeastLoan), "loan",
			"a receive that takes loans reads them where they lie; any other asks for them, as after rendezvous",
		})
	}
	if g.flow.Exposing() {
		all = append(all, Exception{
			fmt.Sprintf("%d bytes and more in one piece that are announced", flow.LeastExposed), "exposed",
			"processes share CPUs: the receiver reads them in the sender's memory, without a turn of the sender in between, if its buffer is in one piece and the system lets it; else it asks for them",
		})
	}
	if longest := x.joinable(); longest >= 0 {
		all = append(all, Exception{
			fmt.Sprintf("up to %d messages of up to %d bytes that wait for the network", flow.MaxAggregate, longest), "aggregate",
			fmt.Sprintf("strategy %s puts them into one packet of up to %d bytes", g.flow.Strategy.Name(), g.flow.Room()),
		})
		all = append(all, Exception{
			fmt.Sprintf("up to %d messages of up to %d bytes from threads that a packet has woken together", strategy.GatherMost, min(longest, strategy.GatherLongest)), "aggregate",
			fmt.Sprintf("strategy %s has the first of them wait for the others, where hooks poll", g.flow.Strategy.Name()),
		})
	}
	return all
}

// joinable is the longest message that the strategy puts into a packet with another one; -1: none. Under mu.
func (x *routes) joinable() int {
	p := strategy.Packet{Messages: 1, Bytes: flow.AggregateHead, Room: x.g.flow.Room()}
	joins := func(size int) bool {
		return p.Bytes+flow.AggregateHead+size <= p.Room && x.g.flow.Strategy.Joins(p, strategy.Item{Size: size, Eager: true})
	}
	if !joins(0) {
		return -1
	}
	from, to := 0, x.g.flow.Eager()+1 // from joins, to does not, or is not eager
	for to-from > 1 {
		if middle := from + (to-from)/2; joins(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return from
}
