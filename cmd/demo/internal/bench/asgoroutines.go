package bench

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pm2-go/pm2/marcel"
)

// Programs written for goroutines, in which marcel.Spawn and Join replace go and the
// WaitGroup: all else is the same, Go's channels, sync and package time.

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

// pool: workers take jobs from a channel and add them up under a mutex.
func pool(newTeam func() team, workers, jobs int) func(*watch) error {
	return func(w *watch) error {
		all, ch := newTeam(), make(chan int)
		var mu sync.Mutex
		sum := 0
		for range workers {
			all.Go(func() {
				for v := range ch {
					mu.Lock()
					sum += v
					mu.Unlock()
				}
			})
		}
		sent := 0
		for sent < jobs {
			sent++
			ch <- sent
		}
		close(ch)
		all.Wait()
		return firstError(expect("sum of the jobs", sum, jobs*(jobs+1)/2))
	}
}

// pause is how long a handler, or a thread, sleeps.
const pause = 10 * time.Millisecond

// gets: as many threads get one page each, at the same time, from a server in this process whose
// handlers are goroutines.
func gets(newTeam func() team, n int) func(*watch) error {
	const page = "here it is"
	return func(w *watch) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(pause)
			_, _ = io.WriteString(w, page)
		})}
		ended := make(chan struct{})
		go func() { _ = server.Serve(l); close(ended) }()
		defer func() {
			http.DefaultClient.CloseIdleConnections()
			_ = server.Close()
			<-ended
		}()
		url := "http://" + l.Addr().String()
		return w.timed(1, 1, func(int) error {
			all := newTeam()
			var right atomic.Int64
			var mu sync.Mutex
			var wrong error
			for range n {
				all.Go(func() {
					text, err := get(url)
					if err == nil && text == page {
						right.Add(1)
						return
					}
					mu.Lock()
					wrong = fmt.Errorf("page %q, %w", text, err)
					mu.Unlock()
				})
			}
			all.Wait()
			got := int(right.Load())
			return firstError(wrong, expect("pages", got, n))
		})
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

// naps: n threads sleep, all at the same time.
func naps(newTeam func() team, n int) func(*watch) error {
	return func(w *watch) error {
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
		got := int(rested.Load())
		return firstError(expect("threads that slept long enough", got, n))
	}
}

// closing: n threads wait at a channel; what is timed is from its close to the end of the last of
// them. It is done twice, and the second time counts.
func closing(newTeam func() team, n int) func(*watch) error {
	return func(w *watch) error {
		err := release(w, newTeam(), n)
		if err == nil {
			err = release(w, newTeam(), n)
		}
		return err
	}
}

func release(w *watch, all team, n int) error {
	ch := make(chan struct{})
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
	return firstError(err, w.countThreads(), expect("threads released", int(released.Load()), n))
}
