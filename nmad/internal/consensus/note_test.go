package consensus

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestNotes: what is encoded is decoded, and no part of it is.
func TestNotes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 50).Draw(t, "size")
		ranks := func(name string) (l []int) {
			for r := range size {
				if rapid.IntRange(0, 9).Draw(t, name) == 0 {
					l = append(l, r)
				}
			}
			return l
		}
		n := Note{Kind: State, Epoch: rapid.Uint32().Draw(t, "epoch"), By: rapid.IntRange(NoLeader, size-1).Draw(t, "by")}
		n.Verdict = Verdict{rapid.Uint64().Draw(t, "value"), CallAgree, ranks("failed")}
		n.Proposal = Verdict{rapid.Uint64().Draw(t, "held"), CallShrink, ranks("held")}
		b := n.Encode()
		got, ok := Decode(b, size)
		if !ok || fmt.Sprint(got) != fmt.Sprint(n) {
			t.Fatalf("%v became %v, %v", n, got, ok)
		}
		for i := range b {
			if _, ok := Decode(b[:i], size); ok {
				t.Fatalf("%d bytes of %d make a note", i, len(b))
			}
		}
	})
}

// FuzzNote: whatever comes is refused, or is a note that makes the same bytes.
func FuzzNote(f *testing.F) {
	f.Add((&Note{Kind: State, By: NoLeader, Verdict: Verdict{Failed: []int{1, 2}}, Proposal: Verdict{Failed: []int{3}}}).Encode())
	f.Add((&Note{Kind: Decide, By: NoLeader, Verdict: Verdict{7, 3, []int{9}}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := Decode(b, 10); ok && string(n.Encode()) != string(b) {
			t.Errorf("%x became %v", b, n)
		}
	})
}

// FuzzAgreement: whatever other processes say, this one does not panic, keeps little, and has no
// rank in its list twice.
func FuzzAgreement(f *testing.F) {
	f.Add([]byte{0, 1, 2})
	f.Add(append([]byte{1, 0}, (&Note{Kind: State, By: NoLeader}).Encode()...))
	f.Add(append([]byte{1, 1}, (&Note{Kind: Propose, By: NoLeader, Verdict: Verdict{Failed: []int{0, 2}}}).Encode()...))
	f.Fuzz(func(t *testing.T, script []byte) {
		const size = 4
		a := New(1, size, nil)
		for len(script) > 0 {
			what, from := script[0]%4, int(script[0]/4)%size
			script = script[1:]
			switch what {
			case 0:
				if !a.joined {
					a.Join(5, CallAgree)
				}
			case 1:
				a.Lost(from)
			default:
				long := min(len(script), headBytes+4*int(what-2)*from)
				n, ok := Decode(script[:long], size)
				script = script[long:]
				if ok {
					a.Hear(from, n)
				}
			}
			for _, d := range a.Actions() {
				if d.What == Blame {
					a.Lost(d.Rank) // as its gate ends
				}
			}
			if len(a.agreed)+len(a.suspects) > size || len(a.states) > size {
				t.Fatalf("agreed %v, suspects %v, states of %d", a.agreed, a.suspects, len(a.states))
			}
		}
	})
}
