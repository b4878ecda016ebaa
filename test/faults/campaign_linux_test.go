package faults

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
)

var (
	campaign    = flag.Int("campaign", 0, "how many rounds TestCampaign plays; 0: 2, 50 with -long")
	firstSeed   = flag.Uint64("seed", 0, "seed of the first round; 0: a new one")
	wanted      = flag.String("fault", "", "the only kind of fault; empty: each round draws one")
	wantedTheme = flag.String("theme", "", "one-sided, active, all: that theme is in each round, no other one; none; empty: each round draws")
	wantedNet   = flag.String("driver", "", "the only network between the ranks, or several with commas; empty: each round draws")
	heartbeat   = flag.Duration("heartbeat", time.Second, "of the jobs")
	slack       = flag.Float64("slack", 4, "by what a bound is multiplied, before a second is added")
	limit       = flag.Duration("limit", 60*time.Second, "after which a round that has not ended fails, with the stacks of all ranks")
	standing    = flag.Duration("stands", stands, "after which a rank that says nothing shows its stacks, and the round is wrong")
	going       = flag.Bool("going", false, "goes on after a round that is wrong")
	length      = flag.Duration("length", 0, "after which no new round begins; 0: never, but after 4 minutes where -campaign does not say how many there are")
)

func TestMain(m *testing.M) {
	if os.Getenv(planVariable) != "" || os.Getenv(loadVariable) != "" {
		act()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestCampaign plays rounds.
func TestCampaign(t *testing.T) {
	rounds, seed, enough := *campaign, *firstSeed, *length
	if rounds == 0 {
		if rounds = 2; effort.Long() {
			rounds = effort.Of(50)
		}
		enough = cmp.Or(enough, 4*time.Minute) // on a machine that others use each round takes several times as long
	}
	if *wanted != "" && !slices.Contains(kinds, kind(*wanted)) {
		t.Fatalf("-fault %s: there are %v", *wanted, kinds)
	}
	if seed == 0 {
		seed = rand.Uint64() >> 16
	}
	m := look()
	for _, why := range []error{m.noHosts, m.noGroups} {
		if why != nil {
			t.Logf("this machine does not allow it: %v", why)
		}
	}
	y, began := newTally(), time.Now()
	defer func() { y.log(t, time.Since(began)) }()
	for n := range rounds {
		if n > 0 && enough > 0 && time.Since(began) > enough {
			break
		}
		p := newPlan(seed+uint64(n), kind(*wanted), *heartbeat, m)
		started := time.Now()
		r, err := p.play(*limit)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		v := r.judge()
		y.add(p, v)
		say := func(what string) string {
			return fmt.Sprintf("round %d, %v: %s; %d messages, last error after %v, Close %v, woken late by %v, all in %v", n, p, what, v.moved,
				v.last.Round(time.Millisecond), v.close.Round(time.Millisecond), v.lates, time.Since(started).Round(time.Millisecond))
		}
		switch {
		case len(v.bad) == 0:
			if testing.Verbose() {
				t.Log(say("right"))
			}
			continue
		case v.void != "":
			t.Logf("%s\n\t%s", say("void, "+v.void), v.bad[0])
			continue
		}
		again := fmt.Sprintf("go test ./test/faults -campaign 1 -seed %d -heartbeat %v -v", p.Seed, *heartbeat)
		if *wanted != "" {
			again += " -fault " + *wanted
		}
		if *wantedTheme != "" {
			again += " -theme " + *wantedTheme
		}
		if *wantedNet != "" {
			again += " -driver " + *wantedNet
		}
		text := say("WRONG")
		for _, b := range v.bad[:min(len(v.bad), 12)] {
			text += "\n\t" + b
		}
		t.Errorf("%s\n\twhat the ranks have said is in %s\n\tagain: %s", text, r.keep(), again)
		if !*going {
			return
		}
	}
}
