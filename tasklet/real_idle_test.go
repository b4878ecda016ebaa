package tasklet_test

import (
	"testing"
	"time"

	"github.com/pm2-go/pm2/tasklet"
)

// One event at a time from a goroutine to VPs that sleep in between.
func TestRealVPsWakeUpForAnEvent(t *testing.T) {
	_, v := start(t, 2)
	done := make(chan struct{}, 1)
	tk := tasklet.New(v, func() { done <- struct{}{} })
	for i := range 300 {
		if i%10 == 0 {
			time.Sleep(time.Millisecond) // let them fall asleep
		}
		if !tk.Schedule() {
			t.Fatal("it was scheduled already")
		}
		within(t, "the event", done)
	}
}

// A tasklet that schedules itself goes on although nothing else happens, longer
// than an idle VP stays awake.
func TestRealVPsGoOnWithATaskletThatSchedulesItself(t *testing.T) {
	_, v := start(t, 2)
	done := make(chan struct{})
	begin, runs := time.Now(), 0
	var tk tasklet.Tasklet
	if err := tk.Init(v, func() {
		runs++
		if runs >= 10_000 && time.Since(begin) > 100*time.Millisecond {
			close(done)
			return
		}
		tk.Schedule()
	}); err != nil {
		t.Fatal(err)
	}
	tk.Schedule()
	within(t, "10000 runs over 100 ms", done)
}
