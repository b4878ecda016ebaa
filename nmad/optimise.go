package nmad

// Optimising: what goes out next, when the link has room for a packet. Answers first,
// because whole messages wait for them, then credit, then messages: in the order, and
// together in the packets, that the strategy wants (package strategy). A message
// that finds the link idle and nothing before it does not come here.

// enqueue puts a message that cannot leave at once into its place: behind all with its
// tag, and behind all that the strategy does not let it overtake.
func (g *Gate) enqueue(r *Request) {
	q := &g.tx.queue
	if q.empty() || q.tail.entry.Tag == r.entry.Tag || !g.strategy.Overtakes(g.item(r), g.item(q.tail)) {
		q.push(r)
		return
	}
	var before *Request // r goes behind it; nil: to the front
	for x := q.head; x != nil; x = x.link {
		if x.entry.Tag == r.entry.Tag || !g.strategy.Overtakes(g.item(r), g.item(x)) {
			before = x
		}
	}
	if before == nil {
		r.link, q.head = q.head, r
	} else {
		r.link, before.link = before.link, r // before is not the tail, which r overtakes
	}
}

// drain sends what waits, in this order: answers to announcements, because
// whole messages wait for them; loans that were released, for which sends wait; credit; notes of agreements; messages. It stops at the first refusal. On a link on
// which that is cheaper all packets leave together at the end, unless there are older ones still
// in its buffer: what waits here can be overtaken by what the strategy prefers, there it cannot.
func (g *Gate) drain() {
	g.tx.refused, g.tx.late = false, 0
	g.tx.batched = g.tx.caps.Syscalls && !g.tx.unflushed
	if err := g.drainAll(); err != nil {
		g.lose(err)
		return
	}
	g.flush()
}

func (g *Gate) drainAll() error {
	if !g.tx.gathered.empty() {
		if ok, err := g.transmitGathered(); !ok || err != nil {
			return err
		}
	}
	for r := g.rx.answers.head; r != nil; r = g.rx.answers.head {
		if ok, err := g.askFor(r); !ok || err != nil {
			return err
		}
	}
	if g.lent.returns.head != nil {
		if ok, err := g.returnLoans(); !ok || err != nil {
			return err
		}
	}
	if g.rx.due() && g.end == nil {
		if ok, err := g.transmitPlain(kindCredit, uint64(g.rx.owed)); !ok || err != nil {
			return err
		}
		g.rx.paid()
		g.stats.Credits++
	}
	if g.rx.owesRoom && g.end == nil {
		if ok, err := g.transmitPlain(kindRoom, uint64(g.rx.records)); !ok || err != nil {
			return err
		}
		g.rx.owesRoom = false
	}
	if g.tx.owesNotes {
		if ok, err := g.transmitNotes(); !ok || err != nil {
			return err
		}
	}
	for r := g.tx.queue.head; r != nil; r = g.tx.queue.head {
		if r.link != nil {
			if n, bytes := g.together(); n > 1 {
				if ok, err := g.transmitTogether(n, bytes); !ok || err != nil {
					return err
				}
				continue
			}
		}
		if ok, err := g.transmit(r); !ok || err != nil {
			return err
		}
		g.tx.queue.pop()
		g.follow()
		if r.stage == queued {
			g.handOver(r)
		}
	}
	if g.tx.owesByeAck {
		if ok, err := g.transmitPlain(kindByeAck, 0); !ok || err != nil {
			return err
		}
		g.tx.owesByeAck = false
	}
	if g.tx.owesBye && g.resting() {
		if ok, err := g.transmitPlain(kindBye, g.pushed()); !ok || err != nil {
			return err
		}
		g.tx.owesBye = false
	}
	return nil
}

// waiting says whether packets wait to be handed to the link.
func (g *Gate) waiting() bool {
	return !g.tx.queue.empty() || !g.rx.answers.empty() || !g.tx.gathered.empty() ||
		g.tx.owesNotes || g.tx.owesBye || g.tx.owesByeAck || g.rx.due() || g.rx.owesRoom || g.lent.returns.head != nil
}

// outgoing says whether packets wait, or bytes in the driver's buffer.
func (g *Gate) outgoing() bool { return g.waiting() || g.tx.unflushed }

// lateMost is how many announcements are put off at most.
const lateMost = 32

// putsOff says that the announcement of r, which is started now, may wait for company: on a link of which
// each packet costs a system call, as much as it takes to move tens of kilobytes, while messages before it are
// announced or on their way. Who posts many messages posts all of them first, and then polls or waits: that
// sends the announcements. So does a message that cannot wait. None of them could have moved on before.
func (g *Gate) putsOff(r *Request) bool {
	if !g.tx.caps.Syscalls || g.tx.sends.used == 0 && g.pushing == 0 || r.data.size <= g.tx.eager && !r.sync {
		return false
	}
	g.tx.late++
	return g.tx.late < lateMost
}

// stalled says whether all packets that wait do so for the peer's answers, since as
// many messages are announced as it keeps.
func (g *Gate) stalled() bool {
	return g.tx.sends.used >= g.tx.records && !g.tx.queue.empty() && g.rx.answers.empty() &&
		!g.rx.due() && !g.rx.owesRoom && !g.tx.owesByeAck && !g.tx.owesNotes && g.tx.gathered.empty() &&
		g.lent.returns.head == nil
}
