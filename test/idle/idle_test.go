package idle

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/effort"
	"github.com/pm2-go/pm2/nmad"
)

const (
	limit = 0.01 * effort.Slower // share of one CPU
	tries = 4
)

func TestMain(m *testing.M) {
	asChild()
	effort.Together(14) // idle processes do not disturb each other
	os.Exit(m.Run())
}

func TestIdle(t *testing.T) {
	window := effort.Choose(2*time.Second, 3*time.Second, 5*time.Second)
	for _, s := range []scenario{
		{},
		{Blocked: 3},
		{Stuck: 3},
		{Hooks: true},
		{Hooks: true, Blocked: 3, Stuck: 3},
		{Hooks: true, Sockets: 1000},
		{Driver: "shm", Hooks: true},
		{Driver: "tcp", Hooks: true},
		{Driver: "shm", Hooks: true, Receives: 4},
		{Driver: "tcp", Hooks: true, Receives: 4},
		{Driver: "shm"},
		{Driver: "tcp"},
		{Driver: "shm", Receives: 4},
		{Driver: "tcp", Receives: 4},
	} {
		s.Window = window
		t.Run(s.name(), func(t *testing.T) {
			t.Parallel()
			for try := 1; ; try++ {
				worst := 0.0
				for rank, u := range start(t, s) {
					share := float64(u.CPU) / float64(u.Wall)
					t.Logf("rank %d: %v of CPU in %v: %.2f %%", rank, u.CPU, u.Wall.Round(time.Millisecond), 100*share)
					worst = max(worst, share)
				}
				if worst < limit {
					return
				}
				if try == tries {
					t.Fatalf("%.1f %% of a CPU in the last of %d tries, want less than %.0f %%", 100*worst, tries, 100*limit)
				}
			}
		})
	}
}

// TestBusyIsSeen: the measurement does notice a process that is not idle.
func TestBusyIsSeen(t *testing.T) {
	for _, u := range start(t, scenario{Spin: true, Window: 300 * time.Millisecond}) {
		if share := float64(u.CPU) / float64(u.Wall); share <= limit { // on a loaded machine it gets little, but more than this
			t.Errorf("a process that computes is said to use %.1f %% of a CPU", 100*share)
		}
	}
}

func (s scenario) name() string {
	name, engine := s.Driver, "explicit"
	if name == "" {
		name = "no session"
	}
	if s.Hooks {
		engine = "hooks"
	}
	what := "nothing pending"
	if s.Receives > 0 {
		what = fmt.Sprintf("%d receives", s.Receives)
	}
	if s.Sockets > 0 {
		what = fmt.Sprintf("receives at %d sockets", s.Sockets)
	}
	if s.Blocked > 0 {
		what += fmt.Sprintf(", %d blocked", s.Blocked)
	}
	if s.Stuck > 0 {
		what += fmt.Sprintf(", %d stuck", s.Stuck)
	}
	return fmt.Sprintf("%s, %s, %s", name, engine, what)
}

// start runs the processes of a scenario, two if there is a session, and returns
// what they say.
func start(t *testing.T, s scenario) []usage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lifetime)
	defer cancel()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), scenarioVariable+"="+string(text))
	size := 1
	var listener *os.File
	if s.Driver != "" {
		size = 2
		var addr string
		listener, addr = listen(t)
		secret := make([]byte, 32)
		if _, err := rand.Read(secret); err != nil {
			t.Fatal(err)
		}
		env = append(env, nmad.EnvSize+"=2", nmad.EnvDriver+"="+s.Driver, nmad.EnvRendezvous+"="+addr, nmad.EnvSecret+"="+hex.EncodeToString(secret))
	}
	cmds := make([]*exec.Cmd, size)
	outs := make([]bytes.Buffer, 2*size)
	for rank := range cmds {
		c := exec.CommandContext(ctx, os.Args[0])
		c.Env = append(append([]string{}, env...), fmt.Sprintf("%s=%d", nmad.EnvRank, rank))
		c.Stdout, c.Stderr = &outs[2*rank], &outs[2*rank+1]
		if rank == 0 && listener != nil {
			c.ExtraFiles = []*os.File{listener}
			c.Env = append(c.Env, nmad.EnvRendezvousFD+"=3")
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		cmds[rank] = c
	}
	if listener != nil {
		listener.Close()
	}
	usages := make([]usage, size)
	failed := false
	for rank, c := range cmds {
		if err := c.Wait(); err != nil {
			failed = true
			t.Errorf("rank %d: %v: %s", rank, err, outs[2*rank+1].String())
			continue
		}
		if err := json.Unmarshal(outs[2*rank].Bytes(), &usages[rank]); err != nil {
			failed = true
			t.Errorf("rank %d says %q: %v", rank, outs[2*rank].String(), err)
		}
		if usages[rank].Wall < s.Window {
			failed = true
			t.Errorf("rank %d was watched for %v only, want %v", rank, usages[rank].Wall, s.Window)
		}
	}
	if failed {
		t.FailNow()
	}
	return usages
}

// listen opens the rendezvous for rank 0.
func listen(t *testing.T) (f *os.File, addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // File has its own copy
	f, err = l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	return f, l.Addr().String()
}
