package nmad

import (
	"encoding/binary"

	"github.com/pm2-go/pm2/nmad/internal/contexts"
	"github.com/pm2-go/pm2/nmad/internal/flow"
)

// Notes of agreements on their way between two gates: in packets NOTE, without credit, since a
// process has few of them under way at a time. docs/wire.md has the frame.

const (
	noteHead  = 40 // bytes of a note without its ranks
	notesMost = 64 // notes that wait for one peer at most: more than any course of the protocol has, in several groups at once
)

// noteLimit is how long a note can be in a job of that size, in bytes.
func noteLimit(size int) int { return noteHead + 2*4*size }

func (n *note) encode() []byte {
	b := make([]byte, 0, noteHead+4*(len(n.verdict.failed)+len(n.held.failed)))
	b = append(b, n.kind, n.verdict.calls, n.held.calls, 0)
	b = binary.LittleEndian.AppendUint32(b, n.epoch)
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(n.by)))
	b = binary.LittleEndian.AppendUint64(b, n.verdict.value)
	b = binary.LittleEndian.AppendUint64(b, n.held.value)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(n.verdict.failed)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(n.held.failed)))
	b = binary.LittleEndian.AppendUint32(b, uint32(n.of))
	for _, r := range n.verdict.failed {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	for _, r := range n.held.failed {
		b = binary.LittleEndian.AppendUint32(b, uint32(r))
	}
	return b
}

// decodeNote reads a note of a job of that size. False: there is no such note.
func decodeNote(b []byte, size int) (n note, ok bool) {
	if len(b) < noteHead {
		return n, false
	}
	n.kind, n.verdict.calls, n.held.calls = b[0], b[1], b[2]
	n.epoch = binary.LittleEndian.Uint32(b[4:])
	n.by = int(int32(binary.LittleEndian.Uint32(b[8:])))
	n.verdict.value, n.held.value = binary.LittleEndian.Uint64(b[12:]), binary.LittleEndian.Uint64(b[20:])
	of := binary.LittleEndian.Uint32(b[36:])
	n.of = uint16(of)
	own, held := binary.LittleEndian.Uint32(b[28:]), binary.LittleEndian.Uint32(b[32:])
	rest := b[noteHead:]
	if uint64(own)+uint64(held) != uint64(len(rest)/4) || len(rest)%4 != 0 || b[3] != 0 {
		return n, false
	}
	n.verdict.failed, ok = decodeRanks(rest[:4*own], size)
	if !ok {
		return n, false
	}
	n.held.failed, ok = decodeRanks(rest[4*own:], size)
	known := n.kind >= noteState && n.kind <= noteRevoke && of <= contexts.Last && (n.kind != noteRevoke || of > uint32(flow.Plain)) && (n.verdict.calls|n.held.calls)&^(callAgree|callShrink) == 0
	return n, ok && known && n.by >= noLeader && n.by < size && (n.kind == noteState || n.by == noLeader)
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
