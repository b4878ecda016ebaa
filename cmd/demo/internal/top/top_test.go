package top_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pm2-go/pm2/cmd/demo/internal/top"
	"github.com/pm2-go/pm2/sched"
)

func TestWrite(t *testing.T) {
	before := sched.Stats{Elapsed: time.Second, VPs: make([]sched.VPStats, 2)}
	now := sched.Stats{Elapsed: 3 * time.Second, VPs: make([]sched.VPStats, 2), Alive: 12, LWPs: 3}
	now.VPs[0] = sched.VPStats{VP: 0, CPU: 4, State: "running", Ready: 2, Switches: 2_000_000, Items: 20, Ended: 4000, Parks: 2,
		Spin: 200 * time.Millisecond, Hook: 100 * time.Millisecond, Sleep: 700 * time.Millisecond}
	now.VPs[0].Wakes[8], now.VPs[0].Wakes[15] = 98, 2
	now.VPs[1] = sched.VPStats{VP: 1, CPU: 5, State: "free"}
	now.Total = now.VPs[0]
	now.Total.Away = 1
	var b strings.Builder
	if err := top.Write(&b, "demo (pid 7)", now, before); err != nil {
		t.Fatal(err)
	}
	const want = `demo (pid 7), up 3s, 3 LWPs, the last 2s
threads: 12 alive: 1 running, 2 ready, 8 waiting, 1 in Blocking, 0 seized; 0 idle runners

 VP  CPU  load        % spin% hook% sleep% switch/s stolen/s ended/s parks/s ready  wakes p50, p99
  0    4  ####...  50.0  10.0   5.0   35.0    1.00M       10    2000       1     2  <256ns, <32.8µs
  1    5  ####### 100.0   0.0   0.0    0.0        0        0       0       0     0  -
all       #####..  75.0   5.0   2.5   17.5    1.00M       10    2000       1     2  <256ns, <32.8µs
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := top.Write(&b, "x", sched.Stats{}, sched.Stats{}); err != nil || !strings.Contains(b.String(), "no scheduler runs") {
		t.Errorf("of nothing: %q, %v", b.String(), err)
	}
}

func TestWriteThreads(t *testing.T) {
	l := sched.Stats{Alive: 5, Threads: []sched.ThreadInfo{
		{ID: 1, State: sched.StateRunning, VP: 0, Name: "main", Work: sched.ThreadWork{Switches: 7, Moves: 2, Run: 1500 * time.Microsecond, Off: time.Second}},
		{ID: 12, State: sched.StateBlocked, In: sched.InSemaphore, On: 0xc000, VP: 1},
		{ID: 13, State: sched.StateReady, VP: 1, Name: "\x1b[2Jevil"},
		{ID: 14, State: sched.StateReady, VP: 1},
	}}
	var b strings.Builder
	if err := top.WriteThreads(&b, l, 3); err != nil {
		t.Fatal(err)
	}
	const want = `
ID  NAME           STATE    IN         VP  ON      SWITCHES  MOVES  RUN    OFF
1   main           running  -          0   -       7         2      1.5ms  1s
12                 blocked  semaphore  1   0xc000  -         -      -      -
13  "\x1b[2Jevil"  ready    -          1   -       -         -      -      -
and 2 more
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
