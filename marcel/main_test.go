package marcel_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/pm2-go/pm2/sched"
	"github.com/pm2-go/pm2/sched/direct"
)

// needsPools skips a test that counts allocations where there is a sync.Pool on the way, since the
// race detector has pools lose things: to find the calling thread, in the portable mode.
func needsPools(t *testing.T) {
	if underRace && !direct.Supported() {
		t.Skip("the race detector has pools lose things")
	}
}

// TestMain runs one of the scenarios that need a process of their own, or the
// tests; nothing of the default scheduler may be left when that was stopped.
func TestMain(m *testing.M) {
	if name := os.Getenv(scenarioVariable); name != "" {
		scenarios[name]()
		os.Exit(0)
	}
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := sched.Default().Stop(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "the default scheduler:", err)
		code = 1
	}
	if err := leaks(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
