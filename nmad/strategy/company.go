package strategy

// This file has the limits, common to all strategies, of how many messages wait for each other, and for how long. The
// strategy decides by Joins which messages may wait.

// Limits of gathering. Threads that one arrival has woken together run one after the other. Their short sends share a
// packet: each send is done when its message is copied into the packet, and the packet waits for the others. A lone
// thread never waits. (nmad/internal/flow/gather.go has the protocol.)
const (
	MaxGathered    = 16   // messages in a packet; more would keep the peer waiting for work
	MaxGatherBytes = 128  // bytes of a message that is copied once more
	GatherRoom     = 2048 // bytes of a packet
	MaxGatherPolls = 16   // polls that leave the packet waiting while a woken thread is ready
)

// Enough returns how many gathered messages are enough to send their packet. If packets are cheap, the peer gets some
// of the messages early, so that both sides work at the same time. packetsCost reports whether each packet costs a
// system call; woken is the number of threads that are about to send, posted the number of receives that wait.
func Enough(packetsCost bool, woken, posted int) int {
	if packetsCost {
		return MaxGathered
	}
	return min((woken+posted)/4, MaxGathered)
}

// MaxDeferred is one more than the number of announcements of long messages that a sender defers, so that they leave
// together. It defers one only if each packet costs a system call, which takes as long as moving tens of kilobytes, and
// if earlier messages are announced or on their way.
//
// A thread that posts many messages posts all of them first, and then polls or waits: the poll sends the announcements,
// and so does a message that cannot be deferred. The deferred messages lose no time, because the earlier ones move
// first.
const MaxDeferred = 32

// Quantum is how many blocking sends and receives over a gate a thread may do in a row without having to wait, while
// other threads of its VP are ready; then it yields. A socket holds thousands of short messages: without this limit a
// thread that never finds it empty, or full, would keep the VP to the end of its slice, and the gates of the other
// threads would stand still.
const Quantum = 64
