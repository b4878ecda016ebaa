package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/nmad"
)

// The test program is also what the jobs run: its first argument says what.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "ring":
			os.Exit(outcome(ring()))
		case "choice":
			os.Exit(outcome(choice()))
		case "swap": // swap SIZE ROUNDS
			size, _ := strconv.Atoi(os.Args[2])
			rounds, _ := strconv.Atoi(os.Args[3])
			os.Exit(outcome(swap(size, rounds)))
		case "fail": // fail RANK STATUS
			if os.Getenv(nmad.EnvRank) == os.Args[2] {
				n, _ := strconv.Atoi(os.Args[3])
				os.Exit(n)
			}
			time.Sleep(time.Hour)
		case "tell": // tell NAME...: the variables, and the working directory
			for _, name := range os.Args[2:] {
				fmt.Print(os.Getenv(name), " ")
			}
			dir, err := os.Getwd()
			fmt.Println(dir)
			os.Exit(outcome(err))
		case "sleep":
			fmt.Println("pid", os.Getpid())
			time.Sleep(time.Hour)
		}
	}
	os.Exit(m.Run())
}

func outcome(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// ring sends 1 MiB once around all processes; each adds its rank to every byte.
func ring() error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	defer s.Close()
	next, before := s.Gate((s.Rank()+1)%s.Size()), s.Gate((s.Rank()+s.Size()-1)%s.Size())
	buf := make([]byte, 1<<20)
	if s.Rank() == 0 {
		if err := next.Send(1, buf); err != nil {
			return err
		}
	}
	if _, err := before.Recv(1, buf); err != nil {
		return err
	}
	for i := range buf {
		buf[i] += byte(s.Rank())
	}
	if s.Rank() != 0 {
		if err := next.Send(1, buf); err != nil {
			return err
		}
	}
	sum := s.Rank() * (s.Rank() + 1) / 2
	if s.Rank() == 0 {
		sum = s.Size() * (s.Size() - 1) / 2
	}
	if i := slices.IndexFunc(buf, func(b byte) bool { return b != byte(sum) }); i >= 0 {
		return fmt.Errorf("byte %d is %d, want %d", i, buf[i], sum)
	}
	fmt.Printf("rank %d of %d\n", s.Rank(), s.Size())
	return s.Close()
}

// choice links to all others and says which network that is, and why.
func choice() error {
	s, err := nmad.Join(context.Background())
	if err != nil {
		return err
	}
	defer s.Close()
	for rank := range s.Size() {
		if rank == s.Rank() {
			continue
		}
		if err := s.Gate(rank).Link(context.Background()); err != nil {
			return err
		}
		r := s.Gate(rank).Info().Rails[0]
		fmt.Printf("%d to %d: %s, as %s\n", s.Rank(), rank, r.Network, r.Choice)
	}
	for step := range 2 * s.Size() { // no rank leaves before all are linked: tell all, and hear from all
		g := s.Gate(step % s.Size())
		if step < s.Size() {
			err = g.Send(1, nil)
		} else {
			_, err = g.Recv(1, nil)
		}
		if err != nil {
			return err
		}
	}
	return s.Close()
}

// demo builds the launchers once; mpiexec is beside demo.
func demo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+"/", "../../cmd/demo", "../../cmd/mpiexec").CombinedOutput(); err != nil {
		t.Fatalf("build the launchers: %v: %s", err, out)
	}
	return filepath.Join(dir, "demo")
}

// job is the command line that launches this test program on both hosts, two
// processes each.
func (p *pair) job(t *testing.T, demo string, action ...string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hosts")
	text := fmt.Sprintf("%s slots=2\n%s slots=2\n", p.addrs[0], p.addrs[1])
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return append([]string{demo, "run", "-n", "4", "--hosts", file, "--rsh", p.rsh, "--demo", demo, "--grace", "500ms", "--", os.Args[0]}, action...)
}

// run runs c to its end.
func run(t *testing.T, c *exec.Cmd) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	err := c.Start()
	if err == nil {
		hangs := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
		err = c.Wait()
		hangs.Stop()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), o.String(), e.String()
}

func TestHosts(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command, and starts many jobs")
	}
	p := newPair(t)
	d := demo(t)

	// Two name spaces of one host count as two hosts: names of Unix sockets, by which shared
	// memory is handed over, are valid in one.
	t.Run("choice", func(t *testing.T) {
		status, out, errs := run(t, p.on(0, p.job(t, d, "choice")...))
		if status != 0 || strings.Count(out, "\n") != 12 {
			t.Errorf("status %d, %q, %s", status, out, errs)
		}
		for line := range strings.Lines(out) {
			var who, from, to int
			if _, err := fmt.Sscanf(line, "[%d] %d to %d:", &who, &from, &to); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			want := "tcp, as they are in different net name spaces of one host"
			if from/2 == to/2 {
				want = "shm, as both processes are on one host"
			}
			if !strings.HasSuffix(line, ": "+want+"\n") {
				t.Errorf("%q, want %q", line, want)
			}
		}
	})

	t.Run("ring", func(t *testing.T) {
		status, out, errs := run(t, p.on(0, p.job(t, d, "ring")...))
		lines := strings.Split(strings.TrimSpace(out), "\n")
		slices.Sort(lines)
		want := []string{"[0] rank 0 of 4", "[1] rank 1 of 4", "[2] rank 2 of 4", "[3] rank 3 of 4"}
		if status != 0 || !slices.Equal(lines, want) {
			t.Errorf("status %d, stdout %q, stderr %q", status, out, errs)
		}
	})

	t.Run("mpiexec", func(t *testing.T) {
		words := []string{filepath.Join(filepath.Dir(d), "mpiexec"), "-l", "-hosts", p.addrs[0] + "," + p.addrs[1], "-ppn", "2", "-launcher-exec", p.rsh, "-genvlist", "MINE",
			"-n", "1", os.Args[0], "ring", ":", "-n", "3", os.Args[0], "ring"}
		status, out, errs := run(t, p.on(0, words...))
		for rank := range 4 {
			if want := fmt.Sprintf("[%d] rank %d of 4\n", rank, rank); !strings.Contains(out, want) || status != 0 {
				t.Errorf("status %d, stdout %q lacks %q, stderr %q", status, out, want, errs)
			}
		}
		words = append(words[:10:10], "-genv", "YOURS", "it's", "-n", "3", os.Args[0], "tell", "MINE", "YOURS", "MORE", ":", "-wdir", "/", "-env", "MORE", "m", os.Args[0], "tell", "MINE", "YOURS", "MORE")
		c := p.on(0, words...)
		c.Dir = t.TempDir()
		c.Env = append(os.Environ(), "MINE=a b")
		status, out, errs = run(t, c)
		for rank := range 4 {
			want := fmt.Sprintf("[%d] a b it's  %s\n", rank, c.Dir)
			if rank == 3 {
				want = "[3] a b it's m /\n"
			}
			if !strings.Contains(out, want) || status != 0 {
				t.Errorf("status %d, stdout %q lacks %q, stderr %q", status, out, want, errs)
			}
		}
		words = append(words[:10:10], "-n", "4", os.Args[0], "fail", "3", "9")
		if status, _, errs := run(t, p.on(0, words...)); status != 9 || !strings.Contains(errs, ": rank 3 (pid") || !strings.Contains(errs, "ranks 2 to 3 on 10.77.0.2") {
			t.Errorf("status %d, stderr %q; want 9, the rank and its host", status, errs)
		}
	})

	t.Run("environment", func(t *testing.T) {
		words := p.job(t, d, "tell", "PM2_SHM_COPY", "PIOM_GRANULARITY", "PM2_DRIVER", "MINE", "YOURS", "PM2_LISTEN")
		words = slices.Insert(words, 2, "--driver", "tcp,tcp", "-x", "MINE", "-x", "YOURS=it's $HOME")
		c := p.on(0, words...)
		c.Dir = t.TempDir()
		c.Env = append(os.Environ(), "PM2_SHM_COPY=two", "PIOM_GRANULARITY=7", "PM2_DRIVER=shm", "MINE=a b")
		status, out, errs := run(t, c)
		if status != 0 {
			t.Errorf("status %d, stderr %q", status, errs)
		}
		for rank := range 4 {
			want := fmt.Sprintf("[%d] two 7 tcp,tcp a b it's $HOME %s:0 %s\n", rank, p.addrs[rank/2], c.Dir)
			if !strings.Contains(out, want) {
				t.Errorf("%q lacks %q", out, want)
			}
		}
		if strings.Count(errs, "not encrypted") != 1 {
			t.Errorf("that it is not encrypted is to be said once: %q", errs)
		}
	})

	t.Run("no such directory", func(t *testing.T) {
		words := slices.Insert(p.job(t, d, "tell"), 2, "--dir", "/nonexistent")
		if status, _, errs := run(t, p.on(0, words...)); status != 2 || !strings.Contains(errs, "the working directory on ") {
			t.Errorf("status %d, stderr %q", status, errs)
		}
	})

	t.Run("one fails on the other host", func(t *testing.T) {
		status, _, errs := run(t, p.on(0, p.job(t, d, "fail", "3", "9")...))
		if status != 9 || !strings.Contains(errs, "rank 3 (pid") || !strings.Contains(errs, "ranks 2 to 3 on 10.77.0.2") {
			t.Errorf("status %d, stderr %q; want 9, the rank and its host", status, errs)
		}
	})

	t.Run("the launcher is killed", func(t *testing.T) {
		c := p.on(0, p.job(t, d, "sleep")...)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		pids := make([]int, 4)
		for i := range pids {
			var rank int
			if _, err := fmt.Fscanf(out, "[%d] pid %d\n", &rank, &pids[i]); err != nil {
				t.Fatalf("the processes did not come up: %v", err)
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			left := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool { return !alive(pid) })
			if len(left) == 0 {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("processes %v outlive their launcher", left)
			}
		}
	})

	t.Run("two launchers", func(t *testing.T) {
		secret := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(secret, []byte(strings.Repeat("5a", 32)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		part := func(i int, ranks string) *exec.Cmd {
			return p.on(i, d, "run", "-n", "3", "--ranks", ranks, "--rendezvous", p.addrs[0]+":7077", "--listen", p.addrs[i]+":0",
				"--driver", "tcp", "--secret-file", secret, os.Args[0], "ring")
		}
		other := part(1, "1:2")
		var text bytes.Buffer
		other.Stdout, other.Stderr = &text, &text
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		status, out, errs := run(t, part(0, "0:1"))
		if err := other.Wait(); err != nil || status != 0 {
			t.Errorf("status %d, %q, %q; the other launcher: %v, %q", status, out, errs, err, &text)
		}
		if !strings.Contains(out, "[0] rank 0 of 3") || !strings.Contains(text.String(), "[2] rank 2 of 3") {
			t.Errorf("they say %q and %q", out, &text)
		}
	})

	t.Run("rank 0 on the other host", func(t *testing.T) {
		status, _, errs := run(t, p.on(1, p.job(t, d, "ring")...))
		if status != 2 || !strings.Contains(errs, "give a rendezvous address host:port") {
			t.Errorf("without an address: status %d, stderr %q", status, errs)
		}
		words := p.job(t, d, "ring")
		words = slices.Insert(words, 2, "--rendezvous", p.addrs[0]+":7078")
		if status, out, errs := run(t, p.on(1, words...)); status != 0 || !strings.Contains(out, "[0] rank 0 of 4") {
			t.Errorf("status %d, stdout %q, stderr %q", status, out, errs)
		}
	})
}

// alive reports whether a process runs, and is not merely unreaped.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	rest := strings.TrimSpace(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}
