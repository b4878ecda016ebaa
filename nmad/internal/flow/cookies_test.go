package flow

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCookies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tab cookieTable
		live := map[uint32]*rendezvous{}
		var dead []uint32
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				r := &rendezvous{}
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
