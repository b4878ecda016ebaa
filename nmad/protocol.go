package nmad

import (
	"fmt"
	"math"
	"strings"

	"github.com/pm2-go/pm2/nmad/internal/crossover"
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

// protocols returns the protocols for messages of all sizes, in order.
func (h *lockedGate) protocols() []Protocol {
	if !h.linked() {
		return []Protocol{{0, math.MaxUint64, "link, then as it says", h.railNames(nil), "nothing was sent yet"}}
	}
	return append(h.eagerRows(), h.rendezvousRows()...)
}

// unlimit lets messages of all sizes that fit into a packet go eagerly, so that the sampler can measure them. undo
// restores the limit.
func (g *Gate) unlimit() (undo func()) {
	h := g.lock()
	defer h.unlock()
	if h.eagerFixed {
		return func() {}
	}
	before := h.flow.EagerLimit()
	h.flow.SetEagerLimit(0)
	return func() {
		h := g.lock()
		h.flow.SetEagerLimit(before)
		h.unlock()
	}
}

// applyProfile makes the gate use the measurements of its rails. The order of the rails stays.
func (g *Gate) applyProfile(p *Profile) {
	h := g.lock()
	defer h.unlock()
	const why = "measured, just now"
	costs, limits := make([]strategy.Cost, len(g.rails)), make([]int, len(g.rails))
	for i := range g.rails {
		l := &g.rails[i]
		if r := p.Rails[l.name]; r.Bandwidth > 0 {
			h.flow.Rails[i].Cost = strategy.Cost{Latency: r.LatencyNs, Bandwidth: r.Bandwidth}
			l.costSource, l.eagerLimit = why, r.Eager
		}
		costs[i], limits[i] = h.flow.Rails[i].Cost, l.eagerLimit
	}
	if limit, rail := crossover.Limit(h.flow.Strategy, costs, limits); !h.eagerFixed && limit > 0 {
		h.flow.SetEagerLimit(limit)
		h.eagerWhy = why
		if rail > 0 {
			h.eagerWhy += ", beside a rendezvous over " + g.rails[rail].name
		}
	}
}

// limitWhy returns where the eager limit comes from.
func (h *lockedGate) limitWhy() string {
	if h.flow.EagerLimit() != h.flow.MaxBody() {
		return h.eagerWhy
	}
	first := &h.gate.rails[0]
	why := fmt.Sprintf("default: the largest packet of %s", first.name)
	if h.eagerWhy != "" {
		why = fmt.Sprintf("%s, as far as the largest packet of %s goes", h.eagerWhy, first.name)
	}
	if first.maxBodyWhy != "" {
		why += " (" + first.maxBodyWhy + ")"
	}
	return why
}

// eagerRows returns the protocols of messages that go over the small track.
func (h *lockedGate) eagerRows() (rows []Protocol) {
	first, from := &h.gate.rails[0], 0
	if short := min(first.shortMax, h.flow.EagerLimit()); short >= 0 {
		rows = append(rows, Protocol{0, uint64(short), "short", first.name, "default: " + first.shortHow})
		from = short + 1
	}
	if from <= h.flow.EagerLimit() {
		rows = append(rows, Protocol{uint64(from), uint64(h.flow.EagerLimit()), "eager", first.name, h.limitWhy()})
	} else if h.flow.EagerLimit() < first.shortMax {
		rows[0].Why = h.limitWhy()
	}
	return rows
}

// rendezvousRows returns the protocols of messages that are announced.
func (h *lockedGate) rendezvousRows() (rows []Protocol) {
	costs := make([]strategy.Cost, len(h.gate.rails))
	for i := range h.gate.rails {
		costs[i] = h.flow.Rails[i].Cost
	}
	all := crossover.Ranges(h.flow.Strategy, costs, h.flow.EagerLimit()+1)
	for i, r := range all {
		row := Protocol{r.From, math.MaxUint64, "rendezvous", h.railNames(r.Rails), h.limitWhy()}
		if i > 0 {
			row.Why = fmt.Sprintf("strategy %s, by what the rails cost", h.flow.Strategy.Name())
		}
		if i+1 < len(all) {
			row.To = all[i+1].From - 1
		}
		rows = append(rows, row)
	}
	return rows
}

// railNames lists the names of the rails in some, or of all if that is nil.
func (h *lockedGate) railNames(some []bool) string {
	var names []string
	for i := range h.gate.rails {
		if some == nil || some[i] {
			names = append(names, h.gate.rails[i].name)
		}
	}
	return strings.Join(names, ", ")
}

// Exception is a case in which messages take another protocol than that of their size.
type Exception struct {
	When string // which messages
	Name string // their protocol: "rendezvous", "aggregate", ...
	Why  string // the reason, for people
}

// exceptions returns the exceptions of the gate.
func (h *lockedGate) exceptions() []Exception {
	if !h.linked() {
		return nil
	}
	all := []Exception{
		{"a synchronous send, of any size", "rendezvous", "that the receiver asks for the bytes says that its receive is there; an empty message is asked for, too"},
		{"the receiver has no memory left for messages without a receive", "rendezvous",
			fmt.Sprintf("it keeps %d bytes from this process", h.flow.Ledger().Window)},
	}
	if h.flow.Lending() {
		all = append(all, Exception{
			fmt.Sprintf("%d bytes and more in a buffer of Alloc", flow.MinLoan), "loan",
			"a receive that takes loans reads them where they lie; any other asks for them, as after rendezvous",
		})
	}
	if h.flow.Exposing() {
		all = append(all, Exception{
			fmt.Sprintf("%d bytes and more in one piece that are announced", flow.MinExposed), "exposed",
			"processes share CPUs: the receiver reads them in the sender's memory, without a turn of the sender in between, if its buffer is in one piece and the system lets it; else it asks for them",
		})
	}
	if longest := h.joinable(); longest >= 0 {
		all = append(all, Exception{
			fmt.Sprintf("up to %d messages of up to %d bytes that wait for the network", flow.MaxAggregate, longest), "aggregate",
			fmt.Sprintf("strategy %s puts them into one packet of up to %d bytes", h.flow.Strategy.Name(), h.flow.MaxBody()),
		})
		all = append(all, Exception{
			fmt.Sprintf("up to %d messages of up to %d bytes from threads that a packet has woken together", strategy.MaxGathered, min(longest, strategy.MaxGatherBytes)), "aggregate",
			fmt.Sprintf("strategy %s has the first of them wait for the others, where hooks poll", h.flow.Strategy.Name()),
		})
	}
	return all
}

// joinable returns the length of the longest message that the strategy puts into a packet with another one, in bytes;
// -1 if it puts none.
func (h *lockedGate) joinable() int {
	p := strategy.Packet{Messages: 1, Bytes: flow.AggregateHead, Room: h.flow.MaxBody()}
	joins := func(size int) bool {
		return p.Bytes+flow.AggregateHead+size <= p.Room && h.flow.Strategy.Joins(p, strategy.Item{Size: size, Eager: true})
	}
	if !joins(0) {
		return -1
	}
	from, to := 0, h.flow.EagerLimit()+1 // a message of from bytes joins; one of to bytes does not, or is not eager
	for to-from > 1 {
		if middle := from + (to-from)/2; joins(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return from
}
