package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"testing"
	"time"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/marcel/metrics"
	"github.com/pm2-go/pm2/sched"
)

func TestPublish(t *testing.T) {
	s, err := sched.New(sched.Config{VPs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	if err := metrics.PublishOf("one", s); err != nil {
		t.Fatal(err)
	}
	marcel.RunOn(s, func() { marcel.Spawn(func() {}).Join() })
	read := func() (st sched.Stats) {
		if err := json.Unmarshal([]byte(expvar.Get("one").String()), &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	for end := time.Now().Add(time.Minute); read().Total.Ended != 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("2 threads ended, expvar says %d", read().Total.Ended)
		}
	}
	if len(read().VPs) != 1 {
		t.Errorf("%d VPs", len(read().VPs))
	}
	if err := metrics.PublishOf("one", s); !errors.Is(err, metrics.ErrPublished) {
		t.Errorf("published twice: %v", err)
	}
	if metrics.PublishOf("two", nil) == nil || metrics.PublishOf("", s) == nil {
		t.Error("no scheduler, or no name, was accepted")
	}
}

func ExamplePublish() {
	if err := metrics.Publish("marcel"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(expvar.Get("marcel").String()) // no thread yet, so no scheduler
	// Output: null
}
