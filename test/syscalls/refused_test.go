//go:build linux && amd64 && !race

package syscalls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/internal/test/effort"
)

// errnos are what calls are refused with.
var errnos = []syscall.Errno{unix.EPERM, unix.ENOSYS, unix.EACCES, unix.EINVAL}

// result is how a program has ended.
type result struct {
	status int
	lines  []string // of both streams
}

// patience is how long a program may take.
const patience = 30 * time.Second

// program runs this test binary as a program under a filter; see filtered.
func program(t *testing.T, errno syscall.Errno, calls []string, args ...string) result {
	t.Helper()
	return start(t, append([]string{"filter", strconv.Itoa(int(errno)), strings.Join(calls, ","), os.Args[0]}, args...)...)
}

// start runs this test binary as a program.
func start(t *testing.T, args ...string) (r result) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("%v has not ended; it says:\n%s", args, out)
	}
	if r.status = cmd.ProcessState.ExitCode(); r.status == statusNoFilter {
		t.Skip(errNoFilter)
	}
	r.lines = strings.Split(strings.TrimSpace(string(out)), "\n")
	return r
}

// says reports whether a line names something.
func (r result) says(what string) bool {
	return slices.ContainsFunc(r.lines, func(line string) bool { return strings.Contains(line, what) })
}

// is reports whether the program has done what the table says; call was refused.
func (r result) is(does, call string) bool {
	silent := !slices.ContainsFunc(r.lines, func(line string) bool { return !strings.HasPrefix(line, fine) })
	switch does {
	case saysSo:
		return r.status == 0 && r.says(call+": ") && r.says(fine)
	case ends:
		return r.status != 0 && r.says(call+": ")
	}
	return r.status == 0 && silent
}

// two are the programs that are walked, with their column.
var two = []struct {
	args   []string
	column func(row) string
}{
	{[]string{"job", "auto,tcp"}, func(r row) string { return r.job }},
	{[]string{"threads"}, func(r row) string { return r.threads }},
}

// TestRefused: each call of the table is refused, in each way: the program does what the table says. A tenth of it,
// unless all is asked for.
func TestRefused(t *testing.T) {
	type one struct {
		row
		program int
		errno   syscall.Errno
	}
	var all []one
	for i, r := range readTable(t).rows {
		for p := range two {
			for e := range errnos {
				all = append(all, one{r, p, errnos[(e+i)%len(errnos)]})
			}
		}
	}
	every := len(all) / effort.Of(len(all))
	next := make(chan one)
	go func() {
		defer close(next)
		for i := range all {
			if (i+int(time.Now().Unix()))%every == 0 {
				next <- all[i]
			}
		}
	}()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for x := range next {
				does := two[x.program].column(x.row)
				if x.errno == unix.ENOSYS && x.call == "waitid" && x.program == 0 {
					does = goesOn // as on a system that does not have it, which is what ENOSYS says
				}
				if r := program(t, x.errno, []string{x.call}, two[x.program].args...); !r.is(does, x.call) {
					t.Errorf("%v without %s (%v): should be %q; status %d, and it says:\n%s",
						two[x.program].args, x.call, x.errno, does, r.status, strings.Join(r.lines, "\n"))
				}
			}
		})
	}
	workers.Wait()
}

// TestAllRefused: all calls that the table knows another way for are refused at once.
func TestAllRefused(t *testing.T) {
	x := readTable(t)
	for i, p := range two {
		for j, errno := range errnos {
			if (i+j)%len(errnos) >= max(1, effort.Of(len(errnos))) {
				continue
			}
			var calls []string
			for _, r := range x.rows {
				if does := p.column(r); does != ends {
					calls = append(calls, r.call)
				}
			}
			if r := program(t, errno, calls, p.args...); r.status != 0 || !r.says(fine) {
				t.Errorf("%v without %v (%v): status %d, and it says:\n%s", p.args, calls, errno, r.status, strings.Join(r.lines, "\n"))
			}
		}
	}
}

// TestAllListed: the programs make no call that is not in docs/platforms.md: any other one would be a signal.
func TestAllListed(t *testing.T) {
	x := readTable(t)
	for _, p := range two {
		if r := program(t, 0, x.all(), p.args...); !r.is(goesOn, "") {
			t.Errorf("%v: status %d; it makes a call that is not in docs/platforms.md, whose number is in rax:\n%s", p.args, r.status, strings.Join(r.lines, "\n"))
		}
	}
}

// TestLimits: a job does without shared memory where limits forbid it, and says over which network it goes.
func TestLimits(t *testing.T) {
	t.Run("size of files", func(t *testing.T) {
		var before unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
		small := fmt.Sprintf("ulimit -f 64; exec %q job auto", os.Args[0])
		out, err := exec.Command("sh", "-c", small).CombinedOutput()
		if want := strings.Repeat(fine+" unix\n", 2); err != nil || string(out) != want {
			t.Errorf("%v, it says:\n%s", err, out)
		}
	})
	t.Run("descriptors", func(t *testing.T) {
		if r := start(t, "job", "auto", "5"); r.status != 0 || !slices.Equal(r.lines, []string{fine + " unix", fine + " unix"}) {
			t.Errorf("status %d, it says:\n%s", r.status, strings.Join(r.lines, "\n"))
		}
	})
}
