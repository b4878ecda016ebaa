package callers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

// roleVariable says what a process of a job does, and in which way it calls, and how often: ROLE WAY N.
const roleVariable = "PM2_TEST_CALLERS"

// roles are what a process can be told to do. It returns once it is through.
var roles = map[string]func(s *nmad.Session, callers *caller.Spawner, n int) error{
	"procs": setProcs,
	"quota": underQuota,
}

func TestMain(m *testing.M) {
	if role := strings.Fields(os.Getenv(roleVariable)); len(role) == 3 {
		if err := act(role[0], role[1], role[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func act(role, text, often string) error {
	if err := enter(); err != nil {
		return err
	}
	way, err := caller.Parse(text)
	n, err2 := strconv.Atoi(often)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	failed := way.Run(func(s *caller.Spawner) {
		var session *nmad.Session
		if session, err = nmad.Join(context.Background()); err != nil {
			return
		}
		if err = roles[role](session, s, n); err == nil {
			err = session.Close()
		}
	})
	return errors.Join(err, failed)
}

// ways are those to test, unless long the most different ones.
func ways(long bool) []caller.Way {
	all := caller.Ways()
	if !long {
		all = slices.DeleteFunc(all, func(w caller.Way) bool { return (w.Caller == caller.Locked) != (w.Engine == caller.Own) })
	}
	return all
}

// patience bounds what must happen, not how fast it does.
const patience = 2 * time.Minute

// run has two processes do something, and shows where they are if they do not end.
func run(t *testing.T, role string, way caller.Way, n int, spec launch.Spec) {
	t.Helper()
	spec.N = 2
	spec.Env = append(spec.Env, fmt.Sprintf("%s=%s %v %d", roleVariable, role, way, n), "GOTRACEBACK=all")
	j, err := launch.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(patience, func() { j.Signal(syscall.SIGQUIT) }).Stop()
	if err := j.Wait(); err != nil {
		t.Error(err)
	}
}
