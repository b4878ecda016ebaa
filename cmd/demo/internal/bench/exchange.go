package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pm2-go/pm2/cmd/demo/internal/fromc"
	"github.com/pm2-go/pm2/internal/setting"
	"github.com/pm2-go/pm2/sched/topo"
)

// exchange is one side of a row of which the sides are runs of demo pingpong, two processes each.
type exchange struct {
	flags   string // of demo pingpong
	env     string // a variable besides this process's; empty: none
	sizes   []int  // of one its time; of two what a line through theirs says of between
	between int
	iters   int
	oneCPU  bool // both processes have the first CPU of the row, and no other
	others  int  // pairs of processes that exchange such messages beside, and are told that they share their CPUs
}

// at returns the flag of that name and its value; empty: it is not given.
func (e *exchange) at(name string) string {
	words := strings.Fields(e.flags)
	if i := slices.Index(words, "--"+name); i >= 0 {
		return words[i] + " " + words[i+1]
	}
	return ""
}

// alike reports whether the same processes can measure both sides.
func (e *exchange) alike(o *exchange) bool {
	return e.flags == o.flags && e.env == o.env && e.iters == o.iters && e.oneCPU == o.oneCPU && e.others == o.others
}

func (e *exchange) arguments(sizes []int, n int) []string {
	list := make([]string, len(sizes))
	for i, s := range sizes {
		list[i] = strconv.Itoa(s)
	}
	return append([]string{"pingpong", "--iters", strconv.Itoa(n), "--sizes", strings.Join(list, ",")}, strings.Fields(e.flags)...)
}

// program is the program that exchanges the messages: this one, or one that calls from C.
func (e *exchange) program(ctx context.Context) (string, error) {
	if e.at("caller") == "--caller c" {
		return fromc.Build(ctx, "github.com/pm2-go/pm2/cmd/demo")
	}
	return os.Executable()
}

// command is a run of it with those sizes, and how it is started: what is started inherits the CPUs of the calling OS
// thread.
func (e *exchange) command(ctx context.Context, format string, sizes []int, cpus []int) (cmd *exec.Cmd, onCPUs func(start func()), err error) {
	path, err := e.program(ctx)
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.CommandContext(ctx, path, append(e.arguments(sizes, e.iters), "--format", format)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.Args[0] = os.Args[0]
	cmd.Env = os.Environ()
	if e.env != "" {
		cmd.Env = append(cmd.Env, e.env)
	}
	if e.others > 0 {
		cmd.Env = append(cmd.Env, setting.SharedCPUs+"=1")
	}
	allowed := topo.CPUs(cpus...)
	if e.oneCPU {
		allowed = topo.CPUs(cpus[0])
	}
	return cmd, func(start func()) {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread() // and ends locked
			_ = allowed.Bind(0)    // where that is forbidden the processes run where they may
			start()
		}()
		<-ended
	}, nil
}

// result is what a run has printed for one size.
type result struct {
	Size   int     `json:"size"`
	Median float64 `json:"median_ns"`
	P90    float64 `json:"p90_ns"`
	P99    float64 `json:"p99_ns"`
}

// perform runs it with those sizes, and returns what became of each.
func (e *exchange) perform(ctx context.Context, sizes []int, cpus []int) (map[int]sample, error) {
	stop, err := e.crowd(ctx, sizes, cpus)
	if err != nil {
		return nil, err
	}
	defer stop()
	cmd, onCPUs, err := e.command(ctx, "json", sizes, cpus)
	if err != nil {
		return nil, err
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	var out []byte
	onCPUs(func() { out, err = cmd.Output() })
	failed := func(err error) error {
		return fmt.Errorf("run demo %s: %w: %s", strings.Join(cmd.Args[1:], " "), err, strings.TrimSpace(complaints.String()))
	}
	if err != nil {
		return nil, failed(err)
	}
	var doc struct {
		Rows []result `json:"rows"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return nil, failed(err)
	}
	all := map[int]sample{}
	for _, r := range doc.Rows {
		if r.Median > 0 {
			all[r.Size] = sample{ns: r.Median, p90: r.P90, p99: r.P99}
		}
	}
	for _, size := range sizes {
		if all[size].ns == 0 {
			return nil, failed(fmt.Errorf("it says nothing of messages of %d bytes", size))
		}
	}
	return all, nil
}

// besideRows is how many rows a pair beside has before it: stop ends it sooner.
const besideRows = 1000

// crowd has the other pairs exchange messages until stop. They do so when it returns.
func (e *exchange) crowd(ctx context.Context, sizes []int, cpus []int) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var all []*exec.Cmd
	end := func() {
		cancel()
		for _, c := range all {
			_ = c.Wait() // it is interrupted
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	for range e.others {
		cmd, onCPUs, err := e.command(ctx, "csv", slices.Repeat(sizes, besideRows/len(sizes)), cpus)
		if err != nil {
			return nil, err
		}
		var complaints strings.Builder
		cmd.Stderr = &complaints
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		onCPUs(func() { err = cmd.Start() })
		if err != nil {
			return nil, fmt.Errorf("run demo beside: %w", err)
		}
		all = append(all, cmd)
		lines := bufio.NewScanner(out)
		for range 2 { // the header, and the first row
			if !lines.Scan() {
				return nil, errors.Join(fmt.Errorf("a pair of processes beside ended before its first row: %s", strings.TrimSpace(complaints.String())), lines.Err())
			}
		}
		go func() {
			for lines.Scan() {
			}
		}()
	}
	return end, nil
}

// of returns the sample of the row that a run makes.
func (e *exchange) of(run map[int]sample) sample {
	a := run[e.sizes[0]]
	if len(e.sizes) == 1 {
		return a
	}
	b := run[e.sizes[1]]
	share := float64(e.between-e.sizes[0]) / float64(e.sizes[1]-e.sizes[0])
	mix := func(a, b float64) float64 { return a + share*(b-a) }
	return sample{ns: mix(a.ns, b.ns), p90: mix(a.p90, b.p90), p99: mix(a.p99, b.p99)}
}

// together is how many rows, from the first one on, are measured in the same processes.
func together(rows []Experiment) int {
	n := 1
	for first := &rows[0]; first.Exchange != nil && n < len(rows); n++ {
		if x := &rows[n]; x.Exchange == nil || !first.Exchange.alike(x.Exchange) || !first.PeerExchange.alike(x.PeerExchange) {
			break
		}
	}
	return n
}

// A run is one side of rows that are measured in the same processes.
type run struct {
	of    *exchange
	sizes []int
}

func newRun(sides ...*exchange) *run {
	r := &run{of: sides[0]}
	for _, e := range sides {
		r.sizes = append(r.sizes, e.sizes...)
	}
	slices.Sort(r.sizes)
	r.sizes = slices.Compact(r.sizes)
	return r
}

// measureExchanges is Measure for rows that are measured in the same processes.
func measureExchanges(ctx context.Context, rows []Experiment, o Options, cpus []int) ([]Outcome, error) {
	var ours, peers []*exchange
	for i := range rows {
		ours, peers = append(ours, rows[i].Exchange), append(peers, rows[i].PeerExchange)
	}
	if _, err := ours[0].program(ctx); err != nil {
		return skipAll(rows, "%v", err), nil
	}
	sides := [2]*run{newRun(ours...), newRun(peers...)}
	all := make([][]repetition, len(rows))
	once := func(peerFirst bool) (r repetition, err error) {
		var results [2]map[int]sample
		side := func(i int) func() error {
			return func() (err error) {
				results[i], err = sides[i].of.perform(ctx, sides[i].sizes, cpus)
				return err
			}
		}
		if r, err = inTurn(side(0), side(1), cpus, peerFirst); err != nil {
			return r, err
		}
		for i := range rows {
			x := r
			x.ours, x.peer = ours[i].of(results[0]), peers[i].of(results[1])
			all[i] = append(all[i], x)
		}
		return r, nil
	}
	skip, err := untilEnough(ctx, o, fmt.Sprintf("rows from %q on", rows[0].Name), once)
	if err != nil {
		return nil, err
	}
	if skip != "" {
		return skipAll(rows, "%s", skip), nil
	}
	outcomes := make([]Outcome, len(rows))
	for i := range rows {
		row := newRow(&rows[i], oneRegime(all[i]), ours[i].iters)
		outcomes[i].Row = &row
	}
	return outcomes, nil
}
