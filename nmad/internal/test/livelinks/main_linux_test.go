package livelinks

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/pm2-go/pm2/internal/test/caller"
	"github.com/pm2-go/pm2/internal/test/effort"
)

// workerVariable makes a process of this binary a worker, which runs cases; it says how it calls.
const workerVariable = "PM2_TEST_LIVELINKS"

// The ways to call that differ most.
var (
	explicit = caller.Way{Caller: caller.Goroutine, Engine: caller.Explicit}.String()
	hooked   = caller.Way{Caller: caller.Thread, Engine: caller.Default}.String()
)

func TestMain(m *testing.M) {
	if way := os.Getenv(workerVariable); way != "" {
		if err := work(way); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	effort.Together(8)
	os.Exit(m.Run())
}

func work(as string) error {
	way, err := caller.Parse(as)
	if err != nil {
		return err
	}
	failed := way.Run(func(*caller.Spawner) { err = liveWorker(way.Caller == caller.Thread) })
	return errors.Join(err, failed)
}
