package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// Spec says what to start. N is needed; the zero value of the other fields is usable.
type Spec struct {
	N     int // processes in the job
	First int // first rank to start: 0, or 1 if the caller is rank 0 itself

	Path string   // program; default this very executable
	Args []string // its arguments, without its name
	Env  []string // more environment, "NAME=value"
	Dir  string   // its working directory; default ours

	Driver     string // for PM2_DRIVER; default nmad's
	Rendezvous string // where rank 0 is to listen; default loopback, any free port

	Stdout func(rank int) io.Writer // where output goes; default where ours goes
	Stderr func(rank int) io.Writer // likewise

	Unbound bool // do not bind processes to processors

	// Signals forwards SIGINT, SIGTERM and SIGHUP to the children. When they are gone
	// this process dies of the same signal. A second signal kills them at once.
	Signals bool

	// Grace is how long the children may take: to end after a signal or SIGTERM before they
	// are killed, and to notice the failure of another rank before they get
	// SIGTERM. Default 3 s.
	Grace time.Duration

	Warn func(text string) // told what does not work but matters little; default a line on stderr
}

const defaultGrace = 3 * time.Second

// ErrSpec is a Spec that cannot be started; the text says why.
var ErrSpec = errors.New("wrong specification")

func (s *Spec) complete() error {
	switch {
	case s.N < 1:
		return fmt.Errorf("launch: %w: %d processes: give at least 1", ErrSpec, s.N)
	case s.First < 0 || s.First > 1:
		return fmt.Errorf("launch: %w: first rank %d: give 0, or 1 if the caller is rank 0", ErrSpec, s.First)
	}
	if s.Path == "" {
		path, err := os.Executable()
		if err != nil {
			return fmt.Errorf("launch: find our own program: %w: give Path", err)
		}
		s.Path = path
	}
	if s.Rendezvous == "" {
		s.Rendezvous = "127.0.0.1:0"
	}
	if s.Grace <= 0 {
		s.Grace = defaultGrace
	}
	if s.Stdout == nil {
		s.Stdout = func(int) io.Writer { return os.Stdout }
	}
	if s.Stderr == nil {
		s.Stderr = func(int) io.Writer { return os.Stderr }
	}
	if s.Warn == nil {
		s.Warn = func(text string) { fmt.Fprintln(os.Stderr, text) }
	}
	return nil
}

// environment is what a child gets: ours, without what a launcher may have told
// us, and who it is.
func (s *Spec) environment(job map[string]string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(nmad.Environment, func(v nmad.Variable) bool { return v.Name == name })
	})
	for _, v := range nmad.Environment {
		if value := job[v.Name]; value != "" {
			env = append(env, v.Name+"="+value)
		}
	}
	return append(env, s.Env...)
}
