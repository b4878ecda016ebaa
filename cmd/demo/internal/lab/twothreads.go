package lab

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/duo"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
)

// twoThreads is E7: two threads of a process that exchange messages at the same time, under the kinds of locks that
// domains have.
var twoThreads = Experiment{
	Name:      "E7",
	Lasts:     30 * time.Second,
	Title:     "two threads a process exchange 8 B at the same time: what locks take of their CPU time",
	Paper:     "TBD09 fig. 5",
	Published: "under one coarse-grain lock about twice the latency of a single thread; fine-grain locks are better",
	Iters:     2000000,
	Rounds:    5,
	Pair:      true,
	Run:       runTwoThreads,
}

// What is on the stack of a thread that takes, holds back for, or gives up a lock of a gate or a domain, and of one
// that waits for it.
var (
	atLock      = regexp.MustCompile(`/nmad/internal/lock\.(\(\*(Spin|Gate|Domain)\)\.(Lock|lockSlow|TryLock|tryJoint|Unlock|unlockJoint|LockLists|UnlockLists|slow|enter|claim|release)|BackOff)$`)
	waitsAtLock = regexp.MustCompile(`/nmad/internal/lock\.(\(\*Spin\)\.slow|BackOff)$`)
)

// LockRow is one kind of domain. Times are nanoseconds.
type LockRow struct {
	Name    string   `json:"name"`
	Variant string   `json:"variant"`
	Median  float64  `json:"median_ns"` // half an exchange
	P99     float64  `json:"p99_ns"`
	Paced   float64  `json:"paced_ns"`    // as in CrowdRow
	Ratio   *float64 `json:"ratio"`       // of paced times, this one / two processes, median of those within the rounds; null: they are that
	Better  string   `json:"better"`      // which way the ratio is better
	Waiting *float64 `json:"waiting"`     // share of rank 0's CPU time in which it waits for a lock; null: not sampled
	Locks   *float64 `json:"at_locks"`    // share in which it takes, waits for, or gives up one; a poller's look at one that is held included
	Samples int64    `json:"cpu_samples"` // of all rounds, that these are shares of
	ProbeNS *float64 `json:"probe_ns"`
	Rounds  int      `json:"rounds"`
	Where   string   `json:"where"`
}

// Head implements report.Row.
func (r LockRow) Head() string { return r.BriefHead() }

// Line implements report.Row.
func (r LockRow) Line() string { return r.BriefLine() + "  " + r.BriefNote() }

// BriefHead implements report.Brief.
func (LockRow) BriefHead() string {
	return "# Half an exchange, medians over the rounds. Paced: elapsed time by the messages of one thread. Ratio: to two processes, lower is better. " +
		"Waiting, at locks: of rank 0's CPU time, in %.\n" +
		fmt.Sprintf("# %-34s %9s %9s %9s %6s %8s %8s %8s", "Variant", "Median", "P99", "Paced", "Ratio", "Waiting", "At locks", "Samples")
}

// BriefLine implements report.Brief.
func (r LockRow) BriefLine() string {
	return fmt.Sprintf("  %-34s %9s %9s %9s %6s %8s %8s %8d", r.Variant, report.Duration(r.Median), report.Duration(r.P99), report.Duration(r.Paced),
		perhaps(r.Ratio, 2), percent(r.Waiting), percent(r.Locks), r.Samples)
}

// BriefNote implements report.Brief.
func (r LockRow) BriefNote() string { return conditions(r.Name+"; "+r.Where, r.ProbeNS) }

func percent(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(100**x, 'f', 1, 64)
}

const (
	kindSerialized = "exchange, a serialized domain for all"
	kindFine       = "exchange, a fine domain for all, a driver for each thread" // of rank 0; rank 1 has a domain for each thread
)

// lockRound is one round of one variant.
type lockRound struct {
	crowdSample
	cpu cpuProfile
}

func runTwoThreads(ctx context.Context, o Options, s *Sink) error {
	return between(ctx, o, s, func(p *duo.Pair) error {
		if p.Shared() {
			return allSkipped(s, "two threads a process", "they meet at a lock only if they run at the same time, and the two processes may use one CPU only")
		}
		if err := s.Begin("either process has a VP on each of two cores and a thread on each, as the two processes beside them have a core each on either side: oversubscribed",
			"time at locks is that of samples of the CPU time, 100 a second of each thread, whose stack has a function of a lock on it"); err != nil {
			return err
		}
		const size, n = 8, 2
		entrants := []entrant[lockRound]{{"a process for each thread", func() (r lockRound, err error) {
			r.crowdSample, err = exchangeProcesses(ctx, p, duo.Setup{Hooked: true}, size, n, o.Iters)
			return r, err
		}}}
		for _, x := range []struct{ name, kind string }{
			{"a private domain for each thread", kindPrivate},
			{"a shared domain for each thread", kindShared},
			{"the gate of the job", kindOneGate},
			{"one serialized domain", kindSerialized},
			{"one fine domain, two drivers", kindFine},
		} {
			entrants = append(entrants, entrant[lockRound]{x.name, func() (r lockRound, err error) {
				r.cpu, err = profiled(func() (err error) {
					r.crowdSample, err = exchangeAs(x.kind)(ctx, p, duo.Setup{Hooked: true, CPUs: p.CPUs[:]}, size, n, o.Iters)
					return err
				}, waitsAtLock, atLock)
				return r, err
			}})
		}
		all, err := rowsInTurn(ctx, o, s, entrants, func(i int, of [][]lockRound, probeNS *float64) LockRow {
			r := lockRow(of[i], of[0], i > 0)
			r.Name, r.Variant, r.Where, r.ProbeNS = "two pairs, 8 B, shm", entrants[i].name, "two processes with two VPs each on two cores, or four processes: oversubscribed", probeNS
			return r
		})
		if err != nil {
			return err
		}
		return drawLocks(s, all)
	})
}

// lockRow summarizes the rounds of one variant.
func lockRow(rounds, base []lockRound, compared bool) LockRow {
	var medians, p99, paced, ratios []float64
	var cpu cpuProfile
	for i := range rounds {
		t := stat.Summarize(rounds[i].ns)
		medians, p99, paced = append(medians, t.Median), append(p99, t.P99), append(paced, rounds[i].paced())
		ratios = append(ratios, rounds[i].paced()/base[i].paced())
		cpu.add(rounds[i].cpu)
	}
	r := LockRow{Median: report.Round(stat.Median(medians)), P99: report.Round(stat.Median(p99)), Paced: report.Round(stat.Median(paced)),
		Better: "lower", Samples: cpu.samples, Rounds: len(rounds)}
	if compared {
		r.Ratio = new(report.Significant(stat.Median(ratios)))
	}
	if cpu.samples > 0 {
		r.Waiting = new(report.Significant(float64(cpu.in[0]) / float64(cpu.samples)))
		r.Locks = new(report.Significant(float64(cpu.in[1]) / float64(cpu.samples)))
	}
	return r
}

// drawLocks draws the time on the left, the shares on the right.
func drawLocks(s *Sink, all []LockRow) error {
	if s.Plot == nil {
		return nil
	}
	times, shares := figure.Panel{Y: "time a message if all advance alike", Times: true}, figure.Panel{Y: "% of the CPU time at locks", Zero: true}
	var paced, waiting, locks figure.Curve
	paced.Name, waiting.Name, locks.Name = "time", "waiting for a lock", "at locks"
	for _, r := range all {
		paced.Y = append(paced.Y, r.Paced)
		times.Places = append(times.Places, shortNames[r.Variant])
		if r.Locks != nil {
			shares.Places = append(shares.Places, shortNames[r.Variant])
			waiting.Y, locks.Y = append(waiting.Y, 100**r.Waiting), append(locks.Y, 100**r.Locks)
		}
	}
	times.Curves, shares.Curves = []figure.Curve{paced}, []figure.Curve{waiting, locks}
	if len(locks.Y) == 0 {
		return figure.Curves(s.Plot, s.Title("two threads a process"), times)
	}
	return figure.Curves(s.Plot, s.Title("two threads a process"), times, shares)
}

// shortNames are those of the variants in the figure.
var shortNames = map[string]string{
	"a process for each thread": "processes", "a private domain for each thread": "private", "a shared domain for each thread": "shared",
	"the gate of the job": "one gate", "one serialized domain": "serialized", "one fine domain, two drivers": "fine",
}
