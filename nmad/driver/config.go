package driver

import "fmt"

// Config tells a driver which process of which job opens it. Drivers do not change it.
type Config struct {
	Rank   int    // this process
	Size   int    // processes in the job
	Job    string // identifies the job on its hosts
	Secret []byte // shared by the processes of the job; both sides prove that they hold it
	Listen string // address to listen on; "" stands for loopback and any free port

	// SharedCPUs reports whether processes share CPUs, because there are more processes than CPUs: a process then waits
	// for its turn for longer than a copy takes. It may become true before the first link is made, so drivers call it
	// for each link. Any goroutine may call it. If it is nil, they do not.
	SharedCPUs func() bool `json:"-"`
}

// HasSharedCPUs reports whether processes share CPUs: see SharedCPUs.
func (c *Config) HasSharedCPUs() bool { return c.SharedCPUs != nil && c.SharedCPUs() }

// MaxJob is the longest Config.Job, in bytes: it travels in the first message of every link, whose size is bounded.
const MaxJob = 128

// MaxSize is the largest number of processes in a job.
const MaxSize = 1 << 16

// Check fails with ErrConfig for a configuration with which no driver can work; drivers call it in Open. The text has
// one line.
func (c *Config) Check() error {
	switch {
	case c.Size < 1 || c.Size > MaxSize:
		return fmt.Errorf("%w: a job of %d processes; give 1 to %d", ErrConfig, c.Size, MaxSize)
	case c.Rank < 0 || c.Rank >= c.Size:
		return fmt.Errorf("%w: rank %d in a job of %d; give 0 to %d", ErrConfig, c.Rank, c.Size, c.Size-1)
	case len(c.Job) > MaxJob:
		return fmt.Errorf("%w: a job name of %d bytes; at most %d", ErrConfig, len(c.Job), MaxJob)
	case len(c.Secret) == 0:
		return fmt.Errorf("%w: no secret; the processes of a job must share one (32 random bytes do)", ErrConfig)
	}
	return nil
}
