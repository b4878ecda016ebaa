package driver

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// TestHeaderWire pins the wire form down, byte by byte.
func TestHeaderWire(t *testing.T) {
	h := Header{Kind: 0x01, Flags: 0x02, Body: 0x13121110, Tag: 0x2726252423222120, Size: 0x353433323130, Context: 0x3736, Cookie: 0x43424140, Seq: 0x53525150}
	const want = "0102000010111213" + "2021222324252627" + "3031323334353637" + "40414243" + "50515253"
	b := make([]byte, HeaderSize)
	h.Put(b)
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("wire form %s, should be %s", got, want)
	}
	var back Header
	if err := back.Get(b); err != nil || back != h {
		t.Errorf("read back %+v, %v", back, err)
	}
}

func TestHeaderRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Header{
			Kind: rapid.Uint8().Draw(t, "kind"), Flags: rapid.Uint8().Draw(t, "flags"),
			Body: rapid.Uint32().Draw(t, "body"), Tag: rapid.Uint64().Draw(t, "tag"),
			Size: rapid.Uint64Range(0, MaxMessage).Draw(t, "size"), Context: rapid.Uint16().Draw(t, "context"), Cookie: rapid.Uint32().Draw(t, "cookie"), Seq: rapid.Uint32().Draw(t, "seq"),
		}
		mark := rapid.Uint16().Draw(t, "mark")
		var back Header
		if got := back.SetWord(h.Word(mark)); got != mark || back.Kind != h.Kind || back.Flags != h.Flags || back.Body != h.Body {
			t.Fatalf("word: %+v, %#x of %+v, %#x", back, got, h, mark)
		}
		b := make([]byte, HeaderSize)
		h.Put(b)
		if err := back.Get(b); err != nil || back != h {
			t.Fatalf("%+v became %+v, %v", h, back, err)
		}
	})
}

// FuzzHeader: whatever arrives, Get neither panics nor accepts what Put would
// not write.
func FuzzHeader(f *testing.F) {
	f.Add(make([]byte, HeaderSize))
	f.Add(make([]byte, HeaderSize-1))
	f.Add(bytes.Repeat([]byte{0xFF}, HeaderSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Header
		err := h.Get(b)
		if bad := len(b) < HeaderSize || b[2] != 0 || b[3] != 0; bad != errors.Is(err, ErrProtocol) || bad != (err != nil) {
			t.Fatalf("%x: %v", b, err)
		}
		if err == nil {
			out := make([]byte, HeaderSize)
			if h.Put(out); !bytes.Equal(out, b[:HeaderSize]) {
				t.Fatalf("%x was written back as %x", b[:HeaderSize], out)
			}
		}
	})
}

func TestHeaderDoesNotAllocate(t *testing.T) {
	h, b := Header{Tag: 1}, make([]byte, HeaderSize)
	if n := testing.AllocsPerRun(100, func() {
		h.Put(b)
		if err := h.Get(b); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHeader(b *testing.B) {
	h, buf := Header{Tag: 1}, make([]byte, HeaderSize)
	for b.Loop() {
		h.Put(buf)
		_ = h.Get(buf)
	}
}
