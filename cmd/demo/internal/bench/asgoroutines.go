package bench

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// Programs written for goroutines, in which marcel.Spawn and Join replace go and the WaitGroup: all else is the same,
// Go's channels, sync and package time.

// team starts the threads of such a program, and waits for them.
type team interface {
	Go(f func())
	Wait()
}

func grouped() team { return &sync.WaitGroup{} }

func joined() team { return &threadTeam{} }

// threadTeam is a team of threads, each of which is joined.
type threadTeam struct{ all []marcel.Thread }

func (t *threadTeam) Go(f func()) { t.all = append(t.all, marcel.Spawn(f)) }

func (t *threadTeam) Wait() {
	for _, thread := range t.all {
		_ = thread.Join()
	}
}

// workers is the number of threads of the pool.
const workers = 64

// pool has workers take n jobs from a channel and add them up under a mutex.
func pool(newTeam func() team) version {
	return func(_ *watch, n int) (sum int, _ error) {
		all, ch := newTeam(), make(chan int)
		var mu sync.Mutex
		for range workers {
			all.Go(func() {
				for v := range ch {
					mu.Lock()
					sum += v
					mu.Unlock()
				}
			})
		}
		for job := range n {
			ch <- job + 1
		}
		close(ch)
		all.Wait()
		return sum, nil
	}
}

// pause is how long a handler, or a thread, sleeps.
const pause = 10 * time.Millisecond

// page is what the server has.
const page = "here it is"

// gets has n threads get one page each, at the same time, from a server in this process whose handlers are goroutines.
// The result is how many got it.
func gets(newTeam func() team) version {
	return func(_ *watch, n int) (_ int, err error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(pause)
			_, _ = io.WriteString(w, page)
		})}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(l) }()
		url := "http://" + l.Addr().String()
		all := newTeam()
		var right atomic.Int64
		errs := make([]error, n)
		for i := range n {
			all.Go(func() {
				text, err := get(url)
				if text == page {
					right.Add(1)
				}
				errs[i] = err
			})
		}
		all.Wait()
		http.DefaultClient.CloseIdleConnections()
		err = firstError(errors.Join(errs...), server.Close())
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = firstError(err, e)
		}
		return int(right.Load()), err
	}
}

func get(url string) (string, error) {
	reply, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return string(text), err
}

// naps has n threads sleep, all at the same time. The result is how many slept long enough.
func naps(newTeam func() team) version {
	return func(_ *watch, n int) (int, error) {
		all := newTeam()
		var rested atomic.Int64
		for range n {
			all.Go(func() {
				begin := time.Now()
				time.Sleep(pause)
				if time.Since(begin) >= pause {
					rested.Add(1)
				}
			})
		}
		all.Wait()
		return int(rested.Load()), nil
	}
}

// closing has n threads wait at a channel, and times from its close to the end of the last thread. The result is how
// many were released.
func closing(newTeam func() team) version {
	return func(w *watch, n int) (int, error) {
		all, ch := newTeam(), make(chan struct{})
		var there, released atomic.Int64
		for range n {
			all.Go(func() {
				there.Add(1)
				<-ch
				released.Add(1)
			})
		}
		for there.Load() < int64(n) {
			marcel.Yield() // of a goroutine: runtime.Gosched
		}
		err := w.countThreads()
		w.begin()
		close(ch)
		all.Wait()
		w.end()
		return int(released.Load()), firstError(err, w.countThreads())
	}
}
