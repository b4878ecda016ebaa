package pattern

import (
	"encoding/binary"
	"fmt"
)

// Guard is the number of bytes behind each buffer that show writes past its end.
const Guard = 64

const (
	guardByte = 0xa5
	step      = 0x9e3779b97f4a7c15 // odd, so that no two words within 2^64 agree
	mask      = 1<<64 - 1          // multiples of step, as constants, modulo 2^64
)

// Seed names one message: the number of the row in the run, the pair of threads, the direction (0: from rank 0, 1: to
// it) and the message's number in the row.
func Seed(row, pair, direction, iteration int) uint64 {
	x := uint64(row)<<48 ^ uint64(pair)<<32 ^ uint64(iteration)
	// The finalizer of a common 64-bit mixer: any change spreads over all bits.
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x&^0xff | uint64(byte(2*iteration+direction))
}

// Page is what buffers are placed in, in bytes.
const Page = 4096

// New returns a buffer of that many bytes with the guard behind it; it begins offset bytes (less than Page) into a
// page. The guard is out of the reach of append and of a driver that goes by len or cap.
func New(bytes, offset int) []byte {
	b := make([]byte, Page+bytes+Guard)
	b = b[(offset-address(b))&(Page-1):]
	for i := range Guard {
		b[bytes+i] = guardByte
	}
	return b[:bytes:bytes]
}

// Fill writes the message into b.
func Fill(b []byte, seed uint64) {
	for ; len(b) >= 32; b = b[32:] { // four words at a time halve the cost
		binary.LittleEndian.PutUint64(b[0:8], seed)
		binary.LittleEndian.PutUint64(b[8:16], seed+step)
		binary.LittleEndian.PutUint64(b[16:24], seed+2*step&mask)
		binary.LittleEndian.PutUint64(b[24:32], seed+3*step&mask)
		seed += 4 * step & mask
	}
	for ; len(b) >= 8; b = b[8:] {
		binary.LittleEndian.PutUint64(b, seed)
		seed += step
	}
	for i := range b {
		b[i] = byte(seed >> (8 * i))
	}
}

// Check compares every byte of b with the message and says which is the first that differs.
func Check(b []byte, seed uint64) error {
	word, rest := seed, b
	for ; len(rest) >= 32; rest = rest[32:] {
		diff := binary.LittleEndian.Uint64(rest[0:8]) ^ word
		diff |= binary.LittleEndian.Uint64(rest[8:16]) ^ (word + step)
		diff |= binary.LittleEndian.Uint64(rest[16:24]) ^ (word + 2*step&mask)
		diff |= binary.LittleEndian.Uint64(rest[24:32]) ^ (word + 3*step&mask)
		if diff != 0 {
			break // the loop below finds the word
		}
		word += 4 * step & mask
	}
	for ; len(rest) >= 8; rest = rest[8:] {
		if binary.LittleEndian.Uint64(rest) != word {
			return mismatch(b, len(b)-len(rest), word)
		}
		word += step
	}
	for i := range rest {
		if rest[i] != byte(word>>(8*i)) {
			return mismatch(b, len(b)-len(rest), word)
		}
	}
	return nil
}

func mismatch(b []byte, offset int, word uint64) error {
	for i := offset; i < len(b) && i < offset+8; i++ {
		if want := byte(word >> (8 * (i - offset))); b[i] != want {
			return fmt.Errorf("byte %d of %d is %#02x instead of %#02x", i, len(b), b[i], want)
		}
	}
	return fmt.Errorf("the word at byte %d of %d changed while it was compared", offset, len(b))
}
