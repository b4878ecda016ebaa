package nmad

import (
	"strings"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/auto"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/sched/topo"
)

// MaxRails is how many rails a gate has at most.
const MaxRails = 8

// rail is one link of a gate. All packets travel over the small track of the first rail of a
// gate, so they arrive in the order in which they were sent, and a job with one rail
// pays for one. The bytes of rendezvous travel over the large tracks of all rails,
// shared out among them by the receiver as the strategy wants it (internal/flow/rendezvous.go). The
// small tracks of the other rails carry nothing; they tell when the peer is lost.
type rail struct {
	gate  *Gate
	index uint8
	name  string // of the driver, and a number if it is not the first of that driver
	link  driver.Link

	chosenDriver string // the driver that a driver that is a choice has chosen; else ""
	chosenWhy    string // why

	place driver.Place // near which processors the link lies

	costSource string // where the cost of it comes from: default, measured

	eagerLimit int    // longest message that is faster eagerly than by rendezvous over this rail, if measured; else 0
	maxBodyWhy string // why the largest packet is no larger; "": the driver does not say
	shortMax   int    // longest body that takes a way of its own on the small track of the link; -1: none does
	shortHow   string // and which

	push, pull transfer

	// Under the lock of the gate.
	armed       bool // the engine sleeps on the link's descriptor
	armedRoom   bool // and room would wake the sleeper, too
	armedInVain bool // and the descriptor tells of nothing: the link has taken back what it was armed for; see rearm
	woken       bool // a sleeper was woken on its behalf, and no thread has looked why
}

func (h *lockedGate) initRail(index int, link driver.Link) {
	l := &h.g.rails[index]
	l.gate, l.index, l.costSource = h.g, uint8(index), "default"
	s := &h.flow.Rails[index].Streams
	l.push.stream, l.push.dir = &s[flow.Push], flow.Push
	l.pull.stream, l.pull.dir = &s[flow.Pull], flow.Pull
	l.bind(link)
}

// bind has the rail use that link.
func (l *rail) bind(link driver.Link) {
	l.link, l.push.call, l.pull.call, l.pull.fetch = link, link.Push, link.Pull, link.Fetch
	caps := link.Caps()
	if caps.Borrows {
		l.push.takeBack, l.pull.takeBack = func(bool) (int, bool) { return link.ReturnPush() }, link.ReturnPull
	}
	l.maxBodyWhy, l.shortMax, l.shortHow, l.place = caps.Bound, caps.Short, caps.How, caps.Place
}

// transfer is that of a direction.
func (l *rail) transfer(dir flow.Direction) *transfer {
	if dir == flow.Push {
		return &l.push
	}
	return &l.pull
}

// inactive says that no thread is inside the large track of the link.
func (l *rail) inactive() bool { return l.push.inactive() && l.pull.inactive() }

// lookEvery is the number of ticks after which a poller looks at the rails of a gate although no sleeper was woken for
// them: there may be no sleepers.
const lookEvery = 256

// nearCPUs returns the processors from which it is cheap to poll the gate, for its task: those near its rails. Empty: any.
// A rail that is as near to all processors does not count. If rails lie on several nodes, the task goes to what the nodes
// have in common.
func (g *Gate) nearCPUs() (set topo.CPUSet) {
	for i := range g.rails {
		set = set.Or(g.rails[i].place.CPUs)
	}
	return set
}

// lookAtRails ends the gate if a rail has ended although nothing was under way on it: its
// descriptor would wake sleepers again and again.
func (h *lockedGate) lookAtRails() {
	h.railsWoken = false
	var head driver.Header
	for i := 1; i < len(h.g.rails) && h.endErr == nil; i++ {
		l := &h.g.rails[i]
		if !l.woken {
			continue
		}
		l.woken = false
		if _, ok, err := l.link.Recv(&head); err != nil {
			h.loseRail(l, err)
		} else if ok {
			h.fail(violation(h.g.rank, "a packet of kind %d on rail %s, whose small track is not used", head.Kind, l.name))
		}
	}
}

// lookAround has the rails looked at now and then.
func (h *lockedGate) lookAround() {
	if h.ticks++; h.ticks%lookEvery != 0 {
		return
	}
	h.railsWoken = true
	for i := range h.g.rails {
		h.g.rails[i].woken = true
	}
}

// RailInfo describes a rail of a gate.
type RailInfo struct {
	Name      string  // of the driver; with #2, #3... if a gate has several rails of that driver
	Latency   int64   // from the request for bytes to the first of them, in ns
	Bandwidth float64 // bytes per ns, which is GB/s
	Why       string  // where these come from: default, measured
	Share     float64 // of a message of ShareOf bytes, between 0 and 1
	Eager     int     // longest message that is faster eagerly than by a rendezvous over this rail, in bytes; 0: not measured

	// For a driver that chooses another one, like auto, once the gate has its links:
	Network string // the driver that was chosen
	Choice  string // why

	// Once the gate has its links:
	Near   string // processors from which it is polled, such as "0-3,8"; "": any of this process
	Placed string // why: where the memory or the network device of the link lies; "": it lies nowhere in particular
}

// SharesMemory says whether processes of one host can be expected to share memory over this rail: its driver is shm, or
// auto, which takes shm between them. It goes by the driver's name, so that all processes of a job get the same answer.
func (i *RailInfo) SharesMemory() bool {
	name, _, _ := strings.Cut(i.Name, "#")
	return name == shm.Name || name == auto.Name
}

// ShareOf is the size of the messages that RailInfo.Share tells about, in bytes.
const ShareOf = 4 << 20

// railInfo describes the rails.
func (h *lockedGate) railInfo() []RailInfo {
	loads, shares := make([]strategy.Load, len(h.g.rails)), make([]int, len(h.g.rails))
	for i := range h.g.rails {
		loads[i] = strategy.Load{Cost: h.flow.Rails[i].Cost}
	}
	strategy.Estimate(h.flow.Strategy, ShareOf, loads, shares)
	infos := make([]RailInfo, len(h.g.rails))
	for i := range h.g.rails {
		l := &h.g.rails[i]
		infos[i] = RailInfo{
			Name: l.name, Latency: h.flow.Rails[i].Cost.Latency, Bandwidth: h.flow.Rails[i].Cost.Bandwidth, Why: l.costSource,
			Share: float64(shares[i]) / ShareOf, Eager: l.eagerLimit,
			Network: l.chosenDriver, Choice: l.chosenWhy, Near: l.place.CPUs.String(), Placed: l.place.Why,
		}
	}
	return infos
}

// railSource lets the engine sleep in the kernel on behalf of a rail. It is a
// pioman.Source.
//
// The protocol with the link is in nmad/driver/doc.go, with its argument why no arrival is lost. What a gate adds: while a
// sleeper sleeps, others may poll, send and receive. If one of them finds the link full, only room can move that send on,
// but the sleeper was told to look out for arrivals alone. So when a thread lets go of the lock of a gate with armed
// rails, and something is still to be sent, it arms the rails again, for room (lockedGate.rearm). Requests that other threads
// leave while Arm holds the lock end the sleep before it begins; those that they leave while Disarm holds it are handled
// by the poll that follows. Arrivals need no care: what another thread takes in has made the descriptor readable, so the
// sleeper wakes, finds nothing, and looks again.
type railSource struct{ *rail }

// Descriptor is what to wait for.
func (src railSource) Descriptor() int { return src.link.Descriptor() }

// Arm asks for an announcement. False: do not sleep, poll.
func (src railSource) Arm() bool {
	g := src.gate
	h := g.tryLock()
	if h == nil {
		return false // another thread polls, and may find something
	}
	ok := h.arm(src.rail)
	h.unlockOnly() // not unlock: nothing was armed for less than is wanted
	return ok && !g.inbox.left() && !g.mu.Owed()
}

func (h *lockedGate) arm(l *rail) bool {
	if h.endErr != nil {
		return true // nothing to wait for; the source is about to be removed
	}
	if !l.inactive() || h.railsWoken || h.waiterPolls() || h.unsent(l) || l.fetches() {
		return false
	}
	room := h.wantsRoom(l)
	if !l.link.Arm(room) {
		return false
	}
	l.armed, l.armedRoom = true, room
	h.armedRails++
	return true
}

// Disarm ends what Arm began. A poll follows, which completes the transfers that are
// copied meanwhile.
func (src railSource) Disarm() {
	g := src.gate
	h := g.lock()
	if src.armed {
		src.armed, src.armedInVain = false, false
		h.armedRails--
		src.link.Disarm()
		if src.index > 0 {
			src.woken, h.railsWoken = true, true
		}
	}
	h.unlockOnly()
}

// unsent says whether something could be sent over the small track that the link was not
// asked to take yet.
func (h *lockedGate) unsent(l *rail) bool {
	return l.index == 0 && h.flow.Unsent()
}

// wantsRoom says whether something cannot go on until the link has room.
func (h *lockedGate) wantsRoom(l *rail) bool {
	return !l.push.stream.Empty() || l.index == 0 && h.flow.WantsRoom()
}

// fetches says that the next bytes are to be read in the peer's memory. No announcement will tell of them.
func (l *rail) fetches() bool { return l.pull.stream.Fetching() && !l.pull.fetchedNothing }

// rearmOne makes the sleeper of an armed rail look out for room, too, if that is needed by now. A link whose Arm says no
// is not armed any more, and its descriptor tells of nothing: rearmOne handles what was there, and then arms it anew. If a
// transfer is copying, the thread that completes it does that.
func (h *lockedGate) rearmOne(l *rail) {
	vain := 0
	for h.endErr == nil && l.inactive() && (l.armedInVain || l.fetches() || !l.armedRoom && (h.wantsRoom(l) || h.unsent(l))) {
		if room := h.wantsRoom(l); !l.fetches() && (room || l.armedInVain && !h.unsent(l)) {
			if l.armedInVain = !l.link.Arm(room); !l.armedInVain {
				l.armedRoom = room
				return
			}
			l.armedRoom = false
		}
		moved := h.progress(nil)
		moved = h.copyLocked(l, &l.push) || moved
		moved = h.copyLocked(l, &l.pull) || moved
		if vain++; moved {
			vain = 0
		} else if vain > unwantedAfter {
			h.takeUnwanted(l)
		}
	}
}

// copyLocked moves a piece with the lock held, and says whether bytes have moved.
func (h *lockedGate) copyLocked(l *rail, m *transfer) bool {
	if !m.reserve() {
		return false
	}
	l.copy(m)
	return h.completeOne(l, m)
}

// unwantedAfter is how often in a row a link may say that something is there, and nothing can be taken in.
const unwantedAfter = 64

// takeUnwanted takes in bytes of long messages that no receive waits for, because bytes that lie in a link keep it from
// being armed. A side that closes drops them. Else the peer has sent what this side has not asked for, and that ends the
// gate.
func (h *lockedGate) takeUnwanted(l *rail) {
	if !l.pull.stream.Empty() || !l.pull.inactive() {
		return
	}
	n, err := l.link.Pull(make([]byte, 64<<10))
	switch {
	case err != nil:
		h.loseRail(l, err)
	case n > 0 && !h.flow.Closing:
		h.fail(violation(h.g.rank, "%d bytes on rail %s of no message that was asked for", n, l.name))
	}
}

// waiterPolls says that a waiter polls for bytes of long messages. If each piece were announced to a sleeper as well, the
// sleeper would take the CPU that both use from the waiter.
func (h *lockedGate) waiterPolls() bool { return h.waiterUntil != 0 && asm.Cycles() < h.waiterUntil }

// rearm makes the sleeper look out for room, too, if that is needed by now. When a link says that something is there
// already, rearm handles it at once, because no other thread is awake for it: packets, room, and also bytes that have
// arrived. Without the bytes two gates could wait here for each other's room for ever. If a transfer is copying, the
// thread that completes it calls rearm again.
func (h *lockedGate) rearm() {
	for i := range h.g.rails {
		if l := &h.g.rails[i]; l.armed {
			h.rearmOne(l)
		}
	}
}
