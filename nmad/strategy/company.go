package strategy

// What all strategies have in common about waiting for company: how many messages wait for one another, and for
// how long. A Strategy says by Joins which ones do.

// Gathering is when short messages that are done already share a packet, for which the first waits: those of threads that
// what has come has woken together, and that run one after the other. A lone thread never waits.
const (
	GatherMost    = 16   // messages in a packet; more would keep the peer waiting for work
	GatherLongest = 128  // bytes of a message that is copied once more
	GatherRoom    = 2048 // bytes of a packet
	GatherPolls   = 16   // polls that leave it alone while such a thread is ready
)

// Enough returns how many gathered messages are enough to send the packet. Where packets are cheap the peer should get
// some of the messages early: else one side is idle while the other one works. woken: threads that are about to
// send; posted: receives that wait.
func Enough(packetsCost bool, woken, posted int) int {
	if packetsCost {
		return GatherMost
	}
	return min((woken+posted)/4, GatherMost)
}

// LateMost is how many announcements of long messages are put off at most, where each packet costs a system call, so that
// they leave together.
const LateMost = 32

// PutsOff says whether the announcement of a message that is started now may wait for company: while messages before it are
// announced or on their way (ahead), late of which wait already. A system call takes as long as to move tens of kilobytes. A thread that posts many messages posts all of
// them first, and then polls or waits: that sends the announcements. So does a message that cannot wait. None of them
// could have moved on before.
func PutsOff(packetsCost, ahead bool, late int) bool { return packetsCost && ahead && late < LateMost }

// Quantum is how many messages a thread may send or receive over a gate without ever
// having to wait while other threads of its VP are ready. A socket holds thousands of short
// messages: without this, a thread that finds it full, or with room, would keep the VP until the
// scheduler takes it away, and the gates of the others stood still meanwhile.
const Quantum = 64
