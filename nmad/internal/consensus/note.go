package consensus

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/internal/contexts"
)

// Bits of Verdict.Calls. Each process tells in its STATE which of the two it has called.
const (
	CallAgree uint8 = 1 << iota
	CallShrink
)

// Verdict is the result of an agreement. In a STATE it is what one process contributes.
type Verdict struct {
	Value uint64 // the bitwise and of the values of the processes; in a STATE the value of one process
	Calls uint8  // the calls that the processes have made

	// Failed has the ranks that this epoch has found failed, in the agreed order; in a STATE those that the process knows
	// of and that were not agreed upon.
	Failed []int
}

// Kinds of notes.
const (
	State uint8 = 1 + iota
	Propose
	Accept
	Decide
	Revoke // no part of an agreement: the context is revoked
)

// NoLeader is the value of Note.By if its sender has accepted no proposal.
const NoLeader = -1

// Note is a message between two Participants. It travels in packets NOTE, whose frame is in docs/wire.md, and takes no
// credit, since a process has few notes under way at a time. The lists of ranks of a Note never change, so copies may
// share them.
type Note struct {
	Kind     uint8
	Context  uint16 // number of the context whose group agrees; 0: the job. A Participant does not look at it
	Epoch    uint32
	Verdict  Verdict // of all kinds but ACCEPT
	By       int     // of a STATE: the leader whose proposal the sender has accepted last, or NoLeader
	Proposal Verdict // of a STATE: that proposal
}

// headBytes is the length of an encoded note without its lists of ranks.
const headBytes = 40

// Limit returns the length of the longest encoded note in a job of that size, in bytes.
func Limit(size int) int { return headBytes + 2*4*size }

// Encode returns the note in the form in which it travels.
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

// Decode decodes a note of a job of that size, and checks all of it: b comes from a peer. ok is false if b is no note.
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
	known := n.Kind >= State && n.Kind <= Revoke && of <= contexts.Last && (n.Kind != Revoke || of > contexts.Library) &&
		(n.Verdict.Calls|n.Proposal.Calls)&^(CallAgree|CallShrink) == 0
	return n, ok && known && n.By >= NoLeader && n.By < size && (n.Kind == State || n.By == NoLeader)
}

// decodeRanks decodes a list of ranks, which has each rank at most once.
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
