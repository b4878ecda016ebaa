package nmad

import (
	"slices"
	"testing"

	"github.com/pm2-go/pm2/nmad/internal/simnet"
	"pgregory.net/rapid"
)

// TestTableModel compares the table with a list in order of age.
func TestTableModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := newTable(1) // so that it grows at once
		var model []*entry
		tags := rapid.Uint64Range(0, uint64(rapid.IntRange(0, 40).Draw(t, "tags")))
		oldest := func(tag uint64) *entry {
			i := slices.IndexFunc(model, func(e *entry) bool { return e.tag == tag })
			if i < 0 {
				return nil
			}
			e := model[i]
			model = slices.Delete(model, i, i+1)
			return e
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				e := &entry{tag: tags.Draw(t, "tag")}
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
				from := 0
				for e := tab.takeAny(&from); e != nil; e = tab.takeAny(&from) {
					if want := oldest(e.tag); e != want {
						t.Fatalf("takeAny = %p, want %p, the oldest of tag %d", e, want, e.tag)
					}
				}
				if len(model) != 0 {
					t.Fatalf("%d entries were left behind", len(model))
				}
			},
			"": func(t *rapid.T) {
				distinct := map[uint64]bool{}
				for _, e := range model {
					distinct[e.tag] = true
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
	entries := make([]entry, 2*n)
	tab := newTable(firstBuckets)
	for i := range n { // one tag, all entries
		entries[i].tag = 7
		tab.add(&entries[i])
	}
	for i := range n { // a tag each
		entries[n+i].tag = uint64(i) << 32
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

func TestCookies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tab cookieTable
		live := map[uint32]*Request{}
		var dead []uint32
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				r := &Request{}
				c := tab.put(r)
				if live[c] != nil {
					t.Fatalf("cookie %#x names two requests", c)
				}
				live[c] = r
				dead = slices.DeleteFunc(dead, func(d uint32) bool { return d == c })
			},
			"take": func(t *rapid.T) {
				for c, r := range live {
					if got := tab.take(c); got != r {
						t.Fatalf("cookie %#x leads to %p, want %p", c, got, r)
					}
					delete(live, c)
					dead = append(dead, c)
					return
				}
			},
			"stale": func(t *rapid.T) {
				for _, c := range dead {
					if tab.take(c) != nil {
						t.Fatalf("cookie %#x, which was answered, still names a request", c)
					}
				}
			},
			"made up": func(t *rapid.T) {
				c := rapid.Uint32().Draw(t, "cookie")
				if live[c] == nil && tab.take(c) != nil {
					t.Fatalf("cookie %#x, which was never given, names a request", c)
				}
			},
			"": func(t *rapid.T) {
				if tab.used != len(live) {
					t.Fatalf("the table counts %d requests, there are %d", tab.used, len(live))
				}
			},
		})
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{1, 1000, 100000} {
		b.Run("tags="+itoa(n), func(b *testing.B) {
			tab := newTable(firstBuckets)
			entries := make([]entry, n)
			for i := range entries {
				entries[i].tag = uint64(i)
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

// BenchmarkReceiveAmongWildcards posts an exact receive and matches it, while so many
// wildcards wait for other tags.
func BenchmarkReceiveAmongWildcards(b *testing.B) {
	for _, c := range []struct{ masked, any int }{{0, 0}, {1, 0}, {0, 1}, {100, 0}, {0, 100}} {
		b.Run("masked="+itoa(c.masked)+",any="+itoa(c.any), func(b *testing.B) {
			p := newPair(simnet.Options{}, wide)
			g, s := p.gates[1], p.session(1)
			for range c.masked {
				g.IrecvMatch(Match{Tag: 1 << 40, Mask: 1 << 40}, nil)
			}
			for range c.any {
				s.Irecv(Tag(1<<40), nil)
			}
			r := fresh()
			b.ReportAllocs()
			for b.Loop() {
				r.prepare(g, 7, nil, true)
				r.age = g.any.clock.Load()
				g.post(r)
				if g.match(7) != r {
					b.Fatal("another receive got the message")
				}
			}
		})
	}
}
