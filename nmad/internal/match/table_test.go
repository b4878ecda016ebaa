package match

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestTableModel compares the table with a list in order of age.
func TestTableModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := newTable[int](1) // so that it grows at once
		var model []*Entry[int]
		tags := rapid.Uint64Range(0, uint64(rapid.IntRange(0, 40).Draw(t, "tags")))
		oldest := func(tag uint64) *Entry[int] {
			i := slices.IndexFunc(model, func(e *Entry[int]) bool { return e.Tag == tag })
			if i < 0 {
				return nil
			}
			e := model[i]
			model = slices.Delete(model, i, i+1)
			return e
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				e := &Entry[int]{Tag: tags.Draw(t, "tag")}
				tab.add(e)
				model = append(model, e)
			},
			"take": func(t *rapid.T) {
				tag := tags.Draw(t, "tag")
				if got, want := tab.take(tag), oldest(tag); got != want {
					t.Fatalf("take(%d) = %p, want %p", tag, got, want)
				}
			},
			"remove": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				e := model[i]
				model = slices.Delete(model, i, i+1)
				if !tab.remove(e) {
					t.Fatal("an entry of the table was not found")
				}
				if tab.remove(e) {
					t.Fatal("an entry was removed twice")
				}
			},
			"empty": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") != 0 {
					t.Skip()
				}
				for e := range tab.drain {
					if want := oldest(e.Tag); e != want {
						t.Fatalf("drain gives %p, want %p, the oldest of tag %d", e, want, e.Tag)
					}
				}
				if len(model) != 0 {
					t.Fatalf("%d entries were left behind", len(model))
				}
			},
			"": func(t *rapid.T) {
				distinct := map[uint64]bool{}
				for _, e := range model {
					distinct[e.Tag] = true
				}
				if tab.len != len(model) || tab.tags != len(distinct) {
					t.Fatalf("the table counts %d entries of %d tags, there are %d of %d", tab.len, tab.tags, len(model), len(distinct))
				}
			},
		})
	})
}

// TestTableLengths makes sure that long queues and many tags do not cost more per
// operation: a walk over them would not end within the time of the test.
func TestTableLengths(t *testing.T) {
	n := 1 << 20
	if testing.Short() {
		n >>= 2
	}
	entries := make([]Entry[int], 2*n)
	tab := newTable[int](firstBuckets)
	for i := range n { // one tag, all entries
		entries[i].Tag = 7
		tab.add(&entries[i])
	}
	for i := range n { // a tag each
		entries[n+i].Tag = uint64(i) << 32
		tab.add(&entries[n+i])
	}
	for i := range n {
		if e := tab.take(7); e != &entries[i] {
			t.Fatalf("entry %d of the long queue is out of order", i)
		}
		if e := tab.take(uint64(i) << 32); e != &entries[n+i] {
			t.Fatalf("tag %d is not found", i)
		}
	}
	if tab.len != 0 || tab.tags != 0 {
		t.Errorf("an empty table counts %d entries of %d tags", tab.len, tab.tags)
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 1000, 100000} {
		b.Run("tags="+strconv.Itoa(n), func(b *testing.B) {
			tab := newTable[int](firstBuckets)
			entries := make([]Entry[int], n)
			for i := range entries {
				entries[i].Tag = uint64(i)
				tab.add(&entries[i])
			}
			b.ReportAllocs()
			i := uint64(0)
			for b.Loop() {
				tab.add(tab.take(i))
				if i++; i == uint64(n) {
					i = 0
				}
			}
		})
	}
}
