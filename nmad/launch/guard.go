package launch

import (
	"bufio"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/internal/process"
)

// A guard is a small process beside a job (Spec.Guard) that ends what is left of it, however the launcher ends. The
// kernel kills the ranks when the launcher dies, but not what they have started, and no process is left that knows it;
// the guard does.
//
// It is this very program, started once more under the name guardName, in a session of its own, where no key of a
// terminal and no signal to the launcher's group reaches it. Its standard input is a pipe whose other end is the
// launcher's alone:
//
//	launcher                      guard
//	the job's mark  ────────────▶ by which it finds what has left the groups
//	+PGID           ────────────▶ the group of a rank that runs
//	-PGID           ────────────▶ that rank is dead and its group killed; it is not reaped
//	                              yet, so the number is still its own
//	end of input    ────────────▶ kills the groups that are left, and what bears the
//	                              mark, until it finds nothing; removes the files of
//	                              memory that ended processes have left; ends itself
//
// The input ends when the launcher closes it, after the last rank was reaped, or when the launcher ends. Every job ends
// in this one way, so it is always tested.
//
// The mark is a random number in PM2_LAUNCHER, which the ranks get in their environment, and all that they start
// inherits. The guard does not find processes that have neither the mark nor the rank's group.
type guard struct {
	mu    sync.Mutex // one line at a time
	cmd   *exec.Cmd
	input io.WriteCloser // its standard input
	mark  string         // value of PM2_LAUNCHER for the ranks
}

// guardName is what the guard is called, by which init knows it.
const guardName = "pm2-guard"

// guardTimeout bounds how long the launcher waits for the guard, and how long that looks for
// processes that will not die, such as those that wait for a broken disk.
const guardTimeout = 5 * time.Second

// init makes this process a guard if it was started as one. It has to be here: of the program that uses this package
// nothing else is to run.
func init() {
	if len(os.Args) == 1 && os.Args[0] == guardName {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
		nameProcess(guardName)
		runGuard(os.Stdin)
		os.Exit(0)
	}
}

// startGuard starts a guard.
func startGuard() (*guard, error) {
	path, err := ownProgram()
	if err != nil {
		return nil, err
	}
	g := &guard{mark: rand.Text()}
	g.cmd = &exec.Cmd{Path: path, Args: []string{guardName}, Env: []string{}, Dir: "/", SysProcAttr: &syscall.SysProcAttr{Setsid: true}}
	if g.input, err = g.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := g.cmd.Start(); err != nil {
		return nil, nameStartError(err, "setsid")
	}
	g.tell(g.mark)
	return g, nil
}

// tell sends a line to the guard. If the guard was killed, the job goes on without it.
func (g *guard) tell(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, _ = io.WriteString(g.input, line+"\n")
}

// addGroup and dropGroup tell the guard that a process group has come or gone. A nil guard ignores them.
func (g *guard) addGroup(pgid int) {
	if g != nil {
		g.tell("+" + strconv.Itoa(pgid))
	}
}

func (g *guard) dropGroup(pgid int) {
	if g != nil {
		g.tell("-" + strconv.Itoa(pgid))
	}
}

// close has the guard end what is left of the job, and waits for it.
func (g *guard) close() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.input.Close()
	stuck := time.AfterFunc(2*guardTimeout, func() { _ = g.cmd.Process.Kill() }) // it may have been stopped
	defer stuck.Stop()
	_ = g.cmd.Wait() // however it ended, there is nothing more to be done
}

// runGuard is the guard's program. It returns when its input has ended and nothing is left of the job.
func runGuard(input io.Reader) {
	lines := bufio.NewScanner(input)
	lines.Scan()
	mark := lines.Text()
	groups := map[int]bool{}
	for lines.Scan() {
		if pgid, err := strconv.Atoi(strings.TrimLeft(lines.Text(), "+-")); err == nil && pgid > 1 {
			if strings.HasPrefix(lines.Text(), "+") {
				groups[pgid] = true
			} else {
				delete(groups, pgid)
			}
		}
	}
	for pgid := range groups {
		_ = syscall.Kill(-pgid, syscall.SIGKILL) // mostly an empty group
	}
	if mark != "" {
		sweep(nmad.EnvLauncher+"="+mark, guardTimeout)
		process.RemoveFiles()
	}
}
