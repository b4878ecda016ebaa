package consensus

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/internal/contexts"
)

// Calls that a verdict is for. Each process that takes part says which one it has called.
const (
	CallAgree uint8 = 1 << iota
	CallShrink
)

// Verdict is what an agreement ends with; in a STATE what one process brings along.
type Verdict struct {
	Value  uint64
	Calls  uint8 // all that were made
	Failed []int // ranks that this agreement has found failed, in the agreed order; in a STATE those known and not agreed upon
}

// Kinds of notes.
const (
	State uint8 = 1 + iota
	Propose
	Accept
	Decide
	Revoke // no part of an agreement: the context is revoked
)

// NoLeader stands for the leader of a proposal that was not made.
const NoLeader = -1

// Note is what the processes tell each other, in packets NOTE, of which docs/wire.md has the frame. They need no credit,
// since a process has few of them under way at a time. One with rank lists is never changed once it was made.
type Note struct {
	Kind     uint8
	Context  uint16 // whose group agrees; 0: the job. A Participant does not look at it
	Epoch    uint32
	Verdict  Verdict // all but ACCEPT
	By       int     // STATE: leader whose proposal was accepted last, or NoLeader
	Proposal Verdict // STATE: that one
}

// headBytes is the length of a note without its ranks.
const headBytes = 40

// Limit is how long a note can be in a job of that size, in bytes.
func Limit(size int) int { return headBytes + 2*4*size }

// Encode returns the note as it travels.
func (n *Note) Encode() []byte {
	b := make([]byte, 0, headBytes+4*(len(n.Verdict.Failed)+len(n.Proposal.Failed)))
	b = append(b, n.Kind, n.Verdict.Calls, n.Proposal.Calls, 0)
	b = binary.LittleEndian.AppendUint32(b, n.Epoch)
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(n.By)))
	b = binary.LittleEndian.AppendUint64(b, n.Verdict.Value)
	b = binary.LittleEndian.AppendUint64(b, n.Proposal.Value)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(n.Verdict.Failed)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(n.Proposal.Failed)))
	b = binary.LittleEndian.AppendUint32(b, uint32(n.Context))
	for _, r := range n.Verdict.Failed {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	for _, r := range n.Proposal.Failed {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return b
}

// Decode reads a note of a job of that size. False: there is no such note.
func Decode(b []byte, size int) (n Note, ok bool) {
	if len(b) < headBytes {
		return n, false
	}
	n.Kind, n.Verdict.Calls, n.Proposal.Calls = b[0], b[1], b[2]
	n.Epoch = binary.LittleEndian.Uint32(b[4:])
	n.By = int(int32(binary.LittleEndian.Uint32(b[8:])))
	n.Verdict.Value, n.Proposal.Value = binary.LittleEndian.Uint64(b[12:]), binary.LittleEndian.Uint64(b[20:])
	of := binary.LittleEndian.Uint32(b[36:])
	n.Context = uint16(of)
	own, proposed := binary.LittleEndian.Uint32(b[28:]), binary.LittleEndian.Uint32(b[32:])
	rest := b[headBytes:]
	if uint64(own)+uint64(proposed) != uint64(len(rest)/4) || len(rest)%4 != 0 || b[3] != 0 {
		return n, false
	}
	n.Verdict.Failed, ok = decodeRanks(rest[:4*own], size)
	if !ok {
		return n, false
	}
	n.Proposal.Failed, ok = decodeRanks(rest[4*own:], size)
	known := n.Kind >= State && n.Kind <= Revoke && of <= contexts.Last && (n.Kind != Revoke || of > contexts.Library) && (n.Verdict.Calls|n.Proposal.Calls)&^(CallAgree|CallShrink) == 0
	return n, ok && known && n.By >= NoLeader && n.By < size && (n.Kind == State || n.By == NoLeader)
}

// decodeRanks reads a list of ranks, of which each may stand there once.
func decodeRanks(b []byte, size int) ([]int, bool) {
	if len(b) == 0 {
		return nil, true
	}
	if len(b) > 4*size {
		return nil, false
	}
	ranks := make([]int, len(b)/4)
	seen := make([]bool, size)
	for i := range ranks {
		r := binary.LittleEndian.Uint32(b[4*i:])
		if uint64(r) >= uint64(size) || seen[r] {
			return nil, false
		}
		seen[r] = true
		ranks[i] = int(r)
	}
	return ranks, true
}
