package workload_test

import (
	"context"
	"testing"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/workload"
	"github.com/pm2-go/pm2/sched"
)

// It does a bit of everything, and ends.
func TestRun(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 2, Unbound: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { workload.Run(ctx, s); close(done) }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		n := s.Stats().Total
		if n.Items > 0 && n.Parks > 0 && n.Seizures > 0 && n.Ended > 32 && n.Wakes.Count() > 0 {
			break
		}
		if time.Now().After(end) {
			t.Errorf("something never happened: %+v", n)
			break
		}
	}
	cancel()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	ctx, cancel = context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
}
