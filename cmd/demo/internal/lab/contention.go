package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/asm"
	"github.com/pm2-go/pm2/cmd/demo/internal/binding"
	"github.com/pm2-go/pm2/cmd/demo/internal/figure"
	"github.com/pm2-go/pm2/cmd/demo/internal/report"
	"github.com/pm2-go/pm2/cmd/demo/internal/stat"
	"github.com/pm2-go/pm2/cmd/demo/internal/taskqueue"
	"github.com/pm2-go/pm2/internal/kernel"
	"github.com/pm2-go/pm2/sched/topo"
)

// contention is what several submitters do to each other and to a poller. On two cores the ratios depend on what else
// runs: a holder that loses its CPU stops all that spin.
var contention = Experiment{
	Name:      "contention",
	Lasts:     8 * time.Second,
	Title:     "tasks per second through one queue: several submitters, one poller",
	Paper:     "TD09 section V, in throughput",
	Published: "a global queue under a spinlock suffers from each core that submits or polls",
	Iters:     400000,
	Rounds:    9,
	Run:       runContention,
}

// ContentionRow is one way to keep queues, under that many submitters.
type ContentionRow struct {
	Name       string   `json:"name"` // the submitters
	Variant    string   `json:"variant"`
	Submitters int      `json:"submitters"`
	Throughput float64  `json:"tasks_per_us"` // median over the rounds
	Q1         float64  `json:"q1_tasks_per_us"`
	Q3         float64  `json:"q3_tasks_per_us"`
	Base       string   `json:"base"`  // the variant it is compared with; empty: it is one
	Ratio      *float64 `json:"ratio"` // of throughputs, this one divided by the base, round by round
	Better     string   `json:"better"`
	Submit     float64  `json:"submit_median_ns"` // as stat.MidMean has it: clocks have steps of up to 10 ns
	P99        float64  `json:"submit_p99_ns"`
	P999       float64  `json:"submit_p999_ns"`
	Spread     float64  `json:"p999_by_median"`
	ProbeNS    *float64 `json:"probe_ns"`
	Rounds     int      `json:"rounds"`
	Where      string   `json:"where"`
}

// Head implements report.Row.
func (ContentionRow) Head() string {
	return "# Throughput: medians over the rounds; ratio: to the base, round by round, higher is better. Submit: the time inside Submit, as the mean of its middle half.\n" +
		fmt.Sprintf("# %-46s %9s %18s %7s %10s %10s %10s %8s %8s  %s", "Submitters: variant", "Tasks/us", "[quartiles]", "Ratio",
			"Submit", "P99", "P99.9", "/median", "Probe ns", "Conditions")
}

// Line implements report.Row.
func (r ContentionRow) Line() string {
	return fmt.Sprintf("  %-46s %9.2f %18s %7s %10s %10s %10s %8.1f %8s  %s", r.Name+": "+r.Variant, r.Throughput,
		fmt.Sprintf("[%.2f, %.2f]", r.Q1, r.Q3), perhaps(r.Ratio, 2), report.Duration(r.Submit), report.Duration(r.P99), report.Duration(r.P999), r.Spread, perhaps(r.ProbeNS, 1), r.Where)
}

// flood is one round of one variant.
type flood struct {
	throughput, median, p99, p999 float64
}

func runContention(ctx context.Context, o Options, s *Sink) error {
	if err := s.Begin("each submitter has 256 tasks; one that waits for a task to come back gives its CPU away, the poller does after 8 rounds of at most 64"); err != nil {
		return err
	}
	a, b, two := binding.Pair(o.CPUs)
	if !two {
		s.Skip("two bound submitters", "this process may use one CPU only")
		return nil
	}
	var pairs []figure.Pair
	series := []struct {
		submitters  int
		name, where string
	}{
		{2, "2 submitters", "each bound to a core of its own, the poller on the second one's"},
		{8, "8 submitters", "oversubscribed: four on each of two cores, the poller on the second"},
	}
	for i, x := range series {
		part := *s
		part.Step = func(done, of int) { s.Step(i*of+done, len(series)*of) }
		rows, err := floodAll(ctx, o, &part, a, b, x.submitters, x.name, x.where)
		if err != nil {
			return err
		}
		for _, r := range rows[1:] {
			pairs = append(pairs, figure.Pair{Name: r.Name + ": " + r.Variant, PeerName: r.Base, Ours: r.perTask(), Peer: rows[0].perTask()})
		}
	}
	if s.Plot == nil {
		return nil
	}
	return figure.Compare(s.Plot, s.Title("one queue, one poller"), "time per task", figure.Sides{Ours: "the queue of the row", Peer: "one spinlock"}, pairs)
}

// perTask turns throughputs into times.
func (r *ContentionRow) perTask() figure.Measure {
	return figure.Measure{Q1: 1000 / r.Q3, Median: 1000 / r.Throughput, Q3: 1000 / r.Q1}
}

// queueMakers make the ways to keep queues. The first one is what the others are compared with.
var queueMakers = []struct {
	name string // the Name of its queues
	make func(m *topo.Topology) (taskqueue.Queues, error)
}{
	{"global spinlock", func(*topo.Topology) (taskqueue.Queues, error) { return taskqueue.NewSpinlock(nil), nil }},
	{"global lock-free FIFO", func(*topo.Topology) (taskqueue.Queues, error) { return taskqueue.NewFIFO(nil), nil }},
	{"per level, spinlocks", func(m *topo.Topology) (taskqueue.Queues, error) { return taskqueue.NewLevels(m, nil), nil }},
	{"tree (ours)", func(m *topo.Topology) (taskqueue.Queues, error) { return taskqueue.NewTree(m, nil) }},
}

// withQueues makes the queues number k of queueMakers for two cores, and closes them after f.
func withQueues[T any](k int, f func(q taskqueue.Queues) (T, error)) (x T, err error) {
	m, err := topo.Synthetic(twoCores)
	if err != nil {
		return x, err
	}
	q, err := queueMakers[k].make(m)
	if err != nil {
		return x, err
	}
	x, err = f(q)
	return x, errors.Join(err, q.Close())
}

// floodAll measures all variants in turn for one number of submitters. The first row is what the others are compared
// with.
func floodAll(ctx context.Context, o Options, s *Sink, a, b, submitters int, name, where string) ([]ContentionRow, error) {
	entrants := make([]entrant[flood], len(queueMakers))
	for k, x := range queueMakers {
		entrants[k] = entrant[flood]{name + ", " + x.name, func() (flood, error) {
			return withQueues(k, func(q taskqueue.Queues) (flood, error) { return floodOne(q, a, b, submitters, o.Iters) })
		}}
	}
	return rowsInTurn(ctx, o, s, entrants, func(i int, of [][]flood, probeNS *float64) ContentionRow {
		through := pick(of[i], func(f *flood) float64 { return f.throughput })
		r := ContentionRow{
			Name: name, Variant: queueMakers[i].name, Submitters: submitters, Better: "higher", Rounds: len(of[i]), Where: where, ProbeNS: probeNS,
			Throughput: report.Round(stat.Median(through)),
			Q1:         report.Round(stat.Quantile(through, 0.25)), Q3: report.Round(stat.Quantile(through, 0.75)),
			Submit: report.Round(stat.Median(pick(of[i], func(f *flood) float64 { return f.median }))),
			P99:    report.Round(stat.Median(pick(of[i], func(f *flood) float64 { return f.p99 }))),
			P999:   report.Round(stat.Median(pick(of[i], func(f *flood) float64 { return f.p999 }))),
		}
		if r.Submit > 0 {
			r.Spread = report.Round(r.P999 / r.Submit)
		}
		if i > 0 {
			r.Base = queueMakers[0].name
			var ratios []float64
			for k := range of[i] {
				ratios = append(ratios, of[i][k].throughput/of[0][k].throughput)
			}
			r.Ratio = new(report.Significant(stat.Median(ratios)))
		}
		return r
	})
}

const (
	floodJobs = 256 // tasks of a submitter
	// Rounds that the poller makes before it gives its CPU to the submitter there: enough for the tasks of two. After
	// each round it would be two switches of the kernel for 64 tasks, which were 40 % of that CPU's time whatever the
	// queue.
	floodRounds = 8
)

// floodOne has the submitters, in turn on CPUs a and b, put n tasks in all into the global queue, each again when it
// has run, while a poller on CPU b runs them.
func floodOne(q taskqueue.Queues, a, b, submitters, n int) (f flood, err error) {
	each := max(n/submitters, 1)
	overhead, ns := stat.ClockOverhead(), nsPerCycle()
	samples := make([]*stat.Counts, submitters)
	var left atomic.Int32
	left.Store(int32(submitters))
	began, ended := make([]time.Time, submitters), make([]time.Time, submitters) // threads are made before, and end after
	var roles []role
	for k := range submitters {
		cpu := a
		if k%2 == 1 {
			cpu = b
		}
		jobs := make([]taskqueue.Job, floodJobs)
		for i := range jobs {
			q.Prepare(&jobs[i])
		}
		samples[k] = stat.NewCounts(each)
		roles = append(roles, role{cpu, func() error {
			defer left.Add(-1)
			began[k] = time.Now()
			for i := range each {
				j := &jobs[i%floodJobs]
				for i >= floodJobs && !q.Finished(j) {
					kernel.Yield()
				}
				t0 := asm.Cycles()
				err := q.Submit(j)
				t1 := asm.Cycles()
				if err != nil {
					return fmt.Errorf("%s: submit: %w", q.Name(), err)
				}
				samples[k].Add(t1 - t0 - overhead)
			}
			for i := range min(each, floodJobs) {
				for !q.Finished(&jobs[i]) {
					kernel.Yield()
				}
			}
			ended[k] = time.Now()
			return nil
		}})
	}
	roles = append(roles, role{b, func() error {
		for left.Load() > 0 {
			for range floodRounds {
				q.Poll(1)
			}
			kernel.Yield()
		}
		return nil
	}})
	runtime.GC() // not in between
	if err := bound(roles...); err != nil {
		return f, err
	}
	took := slices.MaxFunc(ended, time.Time.Compare).Sub(slices.MinFunc(began, time.Time.Compare))
	var all []float64
	for _, c := range samples {
		all = c.AppendTo(all, ns)
	}
	f.throughput = float64(len(all)) / (float64(took.Nanoseconds()) / 1e3)
	f.median, f.p99, f.p999 = stat.MidMean(all), stat.Quantile(all, 0.99), stat.Quantile(all, 0.999)
	return f, nil
}
