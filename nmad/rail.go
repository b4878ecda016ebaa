package nmad

import (
	"strings"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/nmad/driver"
	"github.com/pm2-go/pm2/nmad/driver/auto"
	"github.com/pm2-go/pm2/nmad/driver/ofi"
	"github.com/pm2-go/pm2/nmad/driver/shm"
	"github.com/pm2-go/pm2/nmad/internal/flow"
	"github.com/pm2-go/pm2/nmad/strategy"
	"github.com/pm2-go/pm2/sched/topo"
)

// MaxRails is how many rails a gate has at most.
const MaxRails = 8

// rail is one link of a gate. All packets travel over the small track of the first rail, so they arrive in the order in
// which they were sent. The bytes of rendezvous travel over the large tracks of all rails: the receiver shares them out
// as the strategy decides (internal/flow/rendezvous.go). The small tracks of the other rails carry nothing; they only
// tell when the peer is lost. Except for the fields at the end, and the transfers, a rail does not change once the gate
// has its links.
type rail struct {
	gate  *Gate
	index uint8  // in Gate.rails
	name  string // name of the driver, with a number if it is not the first rail of that driver
	link  driver.Link

	chosenDriver string // the driver that a driver such as auto has chosen; else ""
	chosenWhy    string // why it has chosen that one

	locality driver.Locality // the processors near which the link lies

	costSource string // where the cost of the rail comes from: default, measured

	eagerLimit int    // longest message that is faster eagerly than by rendezvous over this rail, in bytes; 0: not measured
	maxBodyWhy string // what bounds the largest packet; "" if the driver does not tell
	shortMax   int    // longest body for which the small track has a faster way, in bytes; -1: it has none
	shortHow   string // what that way is

	push, pull transfer

	// Guarded by the lock of the gate.
	armed       bool // the engine may sleep on the link's descriptor
	armedRoom   bool // with armed: the descriptor also tells of room
	armedInVain bool // with armed: the link is not armed any more, so its descriptor tells of nothing; see rearm
	woken       bool // the sleeper has woken because of this rail, and lookAtRails has not looked at it
}

// initRail sets up a rail of a gate that no other thread knows yet.
func (h *lockedGate) initRail(index int, link driver.Link) {
	l := &h.gate.rails[index]
	l.gate, l.index, l.costSource = h.gate, uint8(index), "default"
	s := &h.flow.Rails[index].Streams
	l.push.stream, l.push.dir = &s[flow.Push], flow.Push
	l.pull.stream, l.pull.dir = &s[flow.Pull], flow.Pull
	l.bind(link)
}

// bind makes the rail use a link.
func (l *rail) bind(link driver.Link) {
	l.link, l.push.call, l.pull.call, l.pull.fetch = link, link.Push, link.Pull, link.Fetch
	caps := link.Caps()
	if caps.Borrows {
		l.push.takeBack, l.pull.takeBack = func(bool) (int, bool) { return link.ReturnPush() }, link.ReturnPull
	}
	l.maxBodyWhy, l.shortMax, l.shortHow, l.locality = caps.MaxBodyWhy, caps.Short, caps.ShortHow, caps.Locality
}

// transfer returns the rail's transfer in a direction.
func (l *rail) transfer(dir flow.Direction) *transfer {
	if dir == flow.Push {
		return &l.push
	}
	return &l.pull
}

// inactive reports whether no thread is inside the large track of the link, and no copy is to be completed.
func (l *rail) inactive() bool { return l.push.inactive() && l.pull.inactive() }

// lookEvery is the number of ticks after which a poller looks at the small tracks of the further rails although the
// sleeper was not woken for them: in some engines nothing sleeps.
const lookEvery = 256

// nearCPUs returns the processors from which it is cheap to poll the gate, for its task: those near its rails. An empty
// set stands for all processors. A rail that is equally near to all processors does not count. If the rails lie on
// several NUMA nodes, the engine puts the task into the queue that these nodes share.
func (g *Gate) nearCPUs() (set topo.CPUSet) {
	for i := range g.rails {
		set = set.Or(g.rails[i].locality.CPUs)
	}
	return set
}

// lookAtRails ends the gate if a further rail that has woken the sleeper is broken, though nothing was under way on it:
// its descriptor would wake the sleeper again and again.
func (h *lockedGate) lookAtRails() {
	h.railsWoken = false
	var head driver.Header
	for i := 1; i < len(h.gate.rails) && h.endErr == nil; i++ {
		l := &h.gate.rails[i]
		if !l.woken {
			continue
		}
		l.woken = false
		if _, ok, err := l.link.Recv(&head); err != nil {
			h.loseRail(l, err)
		} else if ok {
			h.fail(violation(h.gate.rank, "a packet of kind %d on rail %s, whose small track is not used", head.Kind, l.name))
		}
	}
}

// lookAround makes lookAtRails look at all rails at every lookEvery-th call.
func (h *lockedGate) lookAround() {
	if h.ticks++; h.ticks%lookEvery != 0 {
		return
	}
	h.railsWoken = true
	for i := range h.gate.rails {
		h.gate.rails[i].woken = true
	}
}

// RailInfo describes a rail of a gate to people.
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
	Near     string // processors from which it is polled, such as "0-3,8"; "": any of this process
	Locality string // why: where the memory or the network device of the link lies; "": it lies nowhere in particular
}

// SharesMemory reports whether processes of one host can be expected to share memory over this rail: its driver is shm,
// auto, which chooses shm between them, or ofi:shm, whose links only lead to processes of the host. It goes by the
// driver's name, so that all processes of a job get the same answer.
func (i *RailInfo) SharesMemory() bool {
	name, _, _ := strings.Cut(i.Name, "#")
	return name == shm.Name || name == auto.Name || name == ofi.Name+":shm"
}

// RemoteMemory returns the link of the gate's first rail if its network writes and reads memory of the peer by itself,
// and the shortest put or get that had better go so, in bytes; nil: it does not, or the gate has no links yet. It takes
// the gate's lock for a moment.
func (g *Gate) RemoteMemory() (l driver.RemoteMemory, from int) {
	if !g.valid() {
		return nil, 0
	}
	h := g.lock()
	defer h.unlock()
	link := h.gate.rails[0].link
	if from = link.Caps().Remote; from > 0 {
		l, _ = link.(driver.RemoteMemory)
	}
	return l, from
}

// ShareOf is the size of the messages that RailInfo.Share tells about, in bytes.
const ShareOf = 4 << 20

// railInfo describes the rails of the gate.
func (h *lockedGate) railInfo() []RailInfo {
	loads, shares := make([]strategy.Load, len(h.gate.rails)), make([]int, len(h.gate.rails))
	for i := range h.gate.rails {
		loads[i] = strategy.Load{Cost: h.flow.Rails[i].Cost}
	}
	strategy.Estimate(h.flow.Strategy, ShareOf, loads, shares)
	infos := make([]RailInfo, len(h.gate.rails))
	for i := range h.gate.rails {
		l := &h.gate.rails[i]
		infos[i] = RailInfo{
			Name: l.name, Latency: h.flow.Rails[i].Cost.Latency, Bandwidth: h.flow.Rails[i].Cost.Bandwidth, Why: l.costSource,
			Share: float64(shares[i]) / ShareOf, Eager: l.eagerLimit,
			Network: l.chosenDriver, Choice: l.chosenWhy, Near: l.locality.CPUs.String(), Locality: l.locality.Why,
		}
	}
	return infos
}

// railSource is the pioman.Source of a rail: it lets the engine sleep in the kernel until the link's descriptor is
// ready.
//
// nmad/driver/doc.go has the protocol with the link, and the proof that no arrival is lost. A gate adds this: while the
// sleeper sleeps, other threads may poll, send and receive. If one of them finds the link full, its send waits for
// room, but the sleeper waits only for arrivals. So a thread that releases the lock of a gate with armed rails arms
// them again, for room, if something is still to be sent (lockedGate.rearm). Requests that other threads leave while
// Arm holds the lock end the sleep before it begins; those that they leave while Disarm holds it are handled by the
// poll that follows. Arrivals need no care: a packet that another thread receives has made the descriptor readable, so
// the sleeper wakes, finds nothing, and sleeps again.
type railSource struct{ *rail }

// Descriptor returns the descriptor on which the sleeper sleeps.
func (src railSource) Descriptor() int { return src.link.Descriptor() }

// Arm makes the link's descriptor tell of arrivals. It returns false if the engine must poll instead of sleeping.
func (src railSource) Arm() bool {
	g := src.gate
	h := g.tryLock()
	if h == nil {
		return false // another thread polls, and may find something
	}
	ok := h.arm(src.rail)
	h.unlockOnly() // unlock would rearm, and arm has just done that
	return ok && !g.inbox.left() && !g.mu.Owed()
}

// arm is Arm under the lock.
func (h *lockedGate) arm(l *rail) bool {
	if h.endErr != nil {
		return true // the gate has ended: the source is about to be removed
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

// Disarm undoes Arm. The engine polls afterwards, which completes the transfers that were copied meanwhile.
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

// unsent reports whether a packet waits that could be handed to the link of the rail now.
func (h *lockedGate) unsent(l *rail) bool {
	return l.index == 0 && h.flow.Unsent()
}

// wantsRoom reports whether something waits until the link of the rail has room.
func (h *lockedGate) wantsRoom(l *rail) bool {
	return !l.push.stream.Empty() || l.index == 0 && h.flow.WantsRoom()
}

// fetches reports whether the next bytes are to be read in the peer's memory: the descriptor does not tell of them.
func (l *rail) fetches() bool { return l.pull.stream.Fetching() && !l.pull.fetchedNothing }

// rearmOne makes the sleeper of an armed rail also wait for room, if that is needed by now. A link whose Arm returns
// false is not armed any more, and its descriptor tells of nothing: so rearmOne handles what is there, and then arms
// the link again. If a transfer is copying, the thread that completes it does so.
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

// copyLocked copies with the lock held, and reports whether bytes have moved.
func (h *lockedGate) copyLocked(l *rail, m *transfer) bool {
	if !m.reserve() {
		return false
	}
	l.copy(m)
	return h.completeOne(l, m)
}

// unwantedAfter is how often in a row a link may tell that something is there, while nothing can be received.
const unwantedAfter = 64

// takeUnwanted pulls bytes of long messages for which no receive waits, because bytes that lie in a link keep it from
// being armed. A side that closes drops them. Otherwise the peer has sent bytes that this side has not asked for, which
// ends the gate.
func (h *lockedGate) takeUnwanted(l *rail) {
	if !l.pull.stream.Empty() || !l.pull.inactive() {
		return
	}
	n, err := l.link.Pull(make([]byte, 64<<10))
	switch {
	case err != nil:
		h.loseRail(l, err)
	case n > 0 && !h.flow.Closing:
		h.fail(violation(h.gate.rank, "%d bytes on rail %s of no message that was asked for", n, l.name))
	}
}

// waiterPolls reports whether a waiter polls for bytes of long messages. Then the engine does not sleep for the gate:
// the sleeper would wake for each piece, and take the CPU from the waiter if both use the same one.
func (h *lockedGate) waiterPolls() bool { return h.waiterUntil != 0 && asm.Cycles() < h.waiterUntil }

// rearm makes the sleeper also wait for room on all armed rails where that is needed by now. If a link tells that
// something is there already, rearm handles it at once, because no other thread is awake for it: packets, room, and
// also bytes of long messages. Without the bytes two gates could wait here for each other's room for ever. If a
// transfer is copying, the thread that completes it calls rearm again.
func (h *lockedGate) rearm() {
	for i := range h.gate.rails {
		if l := &h.gate.rails[i]; l.armed {
			h.rearmOne(l)
		}
	}
}
