package pingpong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pm2-go/pm2/nmad"
)

// envRank1 carries the errand of the second process, as JSON. It is set by rank 0 for its child and means nothing to
// others.
const envRank1 = "PM2_DEMO_RANK1"

// errand is what rank 1 must know before it can talk to rank 0.
type errand struct {
	Options Options `json:"options"`
	CPU     [2]int  `json:"cpu"`
	Apart   bool    `json:"apart"`
	Shared  bool    `json:"shared"`
	Rank0   int     `json:"rank0"` // its pid
}

func (e *errand) place() place { return place{cpu: e.CPU, apart: e.Apart, shared: e.Shared} }

// IsRank1 reports whether Run has started this process as its second one.
func IsRank1() bool { return os.Getenv(envRank1) != "" }

// The launcher has the kernel kill its children when it dies itself. Ours would rather be told, so that it can say why
// it ends. The request holds for the main thread, on which init functions run.
func init() {
	if IsRank1() {
		// An error leaves us with SIGKILL.
		_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0)
	}
}

// RunRank1 is the whole of the second process. It blocks until rank 0 has no more rows, or is gone. ErrTold: it failed,
// and rank 0 knows why.
func RunRank1() error {
	var e errand
	if err := json.Unmarshal([]byte(os.Getenv(envRank1)), &e); err != nil {
		return fmt.Errorf("read %s: %w", envRank1, err)
	}
	if err := e.Options.Validate(); err != nil {
		return fmt.Errorf("read %s: %w", envRank1, err)
	}
	// Should a terminal's interrupt reach both processes: rank 0 decides.
	signal.Ignore(unix.SIGINT)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	ended := make(chan error, 1)
	go func() { ended <- follow(ctx, &e) }()
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, unix.SIGTERM)
	select {
	case err := <-ended:
		return err
	case <-terminated:
		// From the kernel, because rank 0 died, or from another process.
		cancel(errTerminated)
		select {
		case err := <-ended:
			if err != nil && !errors.Is(err, errTerminated) {
				return err
			}
		case <-time.After(causeWait):
		}
		if os.Getppid() != e.Rank0 {
			return fmt.Errorf("rank 0 (pid %d) died", e.Rank0)
		}
		return errTerminated
	}
}

var errTerminated = errors.New("ended by SIGTERM")

// follow joins the job and plays along until rank 0 has no more rows.
func follow(ctx context.Context, e *errand) (err error) {
	where := e.place()
	if err := where.bind(1); err != nil {
		return err // rank 0 could, so this is news
	}
	if err := where.configure(1); err != nil {
		return err
	}
	stop, err := e.Options.enable()
	if err != nil {
		return err
	}
	defer stop()
	joining, cancel := context.WithTimeout(ctx, joinPatience)
	defer cancel()
	session, err := nmad.Join(joining)
	if err != nil {
		return err
	}
	defer func() {
		if e := session.Close(); err == nil {
			err = e
		}
	}()
	end, err := e.Options.record(1)
	if err != nil {
		return err
	}
	e.Options.run(func() { err = followRows(session.Gate(0), &e.Options) })
	if e := end(); err == nil {
		err = e
	}
	return err
}
