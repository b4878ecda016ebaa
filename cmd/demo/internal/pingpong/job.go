package pingpong

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// rank1 is the second process, as rank 0 sees it.
type rank1 struct {
	job   *launch.Job
	loans int // bytes, as nmad.Config.Loans

	shared bool // as nmad.Config.SharedCPUs, of both ranks
}

// loans is how much memory the gates need for the messages that are lent, in bytes; or what the environment says. It is
// twice as much as all buffers have, for a gate finds a free one by its rounded length. What is not touched is not
// used.
func (o *Options) loans() (int, error) {
	if os.Getenv(nmad.EnvLoans) != "" {
		c, err := nmad.FromEnvironment()
		return c.Loans, err
	}
	const page = 4096
	return max(nmad.DefaultLoans, 2*o.Threads*((o.Sizes.Max()+page-1)/page*page)), nil
}

// startRank1 starts this very program again, with the same arguments and its errand in the environment.
func startRank1(o *Options, where *place, sink Sink) (*rank1, error) {
	text, err := json.Marshal(errand{
		Options: *o, CPU: where.cpu, Apart: where.apart, Shared: where.shared, Rank0: os.Getpid(),
	})
	if err != nil {
		return nil, fmt.Errorf("tell rank 1 what to do: %w", err)
	}
	loans, err := o.loans()
	if err != nil {
		return nil, err
	}
	env := []string{envRank1 + "=" + string(text), nmad.EnvLoans + "=" + strconv.Itoa(loans)}
	if where.shared {
		env = append(env, nmad.EnvSharedCPUs+"=1")
	}
	job, err := launch.Start(launch.Spec{
		N:          2,
		First:      1,
		Args:       os.Args[1:],
		Env:        env,
		Driver:     o.Driver,
		Rendezvous: o.Listen,
		// Each rank binds itself, to one CPU near the other's: a launcher that divides the machine among ranks would
		// put them as far apart as it can.
		Unbound: true,
		Warn:    func(text string) { sink.Warn("%s", text) },
	})
	if err != nil {
		return nil, err
	}
	return &rank1{job, loans, where.shared}, nil
}

// config is what rank 0 opens its session with. To be called once.
func (c *rank1) config() nmad.Config {
	config := c.job.Config()
	config.Loans, config.SharedCPUs = c.loans, c.shared
	return config
}

// exited is closed when rank 1 has ended.
func (c *rank1) exited() <-chan struct{} { return c.job.Done() }

// kill ends rank 1 if it runs, and waits until it is gone.
func (c *rank1) kill() {
	c.job.Kill()
	_ = c.job.Wait() // how it ended is known, or does not matter any more
}

// verdict returns how rank 1 ended, nil for status 0. It blocks until rank 1 has ended.
func (c *rank1) verdict() error { return c.job.Wait() }

// awaitEnd gives rank 1 a moment to end after the last row.
func (c *rank1) awaitEnd() error {
	select {
	case <-c.exited():
		return c.verdict()
	case <-time.After(endPatience):
		return fmt.Errorf("rank 1 (pid %d) has no more to do, but did not end within %v", c.job.PID(1), endPatience)
	}
}
