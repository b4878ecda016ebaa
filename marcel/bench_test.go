package marcel_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"
	"testing"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/sched"
)

// on runs the benchmark as a thread of a scheduler of n VPs.
func on(b *testing.B, n int, fn func()) {
	s, err := sched.New(sched.Config{VPs: n})
	if err != nil {
		b.Fatal(err)
	}
	marcel.RunOn(s, fn)
	if err := s.Stop(context.Background()); err != nil {
		b.Fatal(err)
	}
}

// beside runs the peer's benchmark under that many Ps.
func beside(b *testing.B, procs int, fn func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	b.ResetTimer()
	fn()
}

func BenchmarkYield(b *testing.B) {
	b.Run("marcel", func(b *testing.B) {
		on(b, 1, func() {
			turns := func() { // one loop for both: the processor predicts where a switch returns to
				for range b.N / 2 {
					marcel.Yield()
				}
			}
			o, p := marcel.Spawn(turns), marcel.Spawn(turns)
			_ = o.Join()
			_ = p.Join()
		})
	})
	b.Run("goroutine", func(b *testing.B) {
		beside(b, 1, func() {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					for range b.N / 2 {
						runtime.Gosched()
					}
				})
			}
			wg.Wait()
		})
	})
}

// BenchmarkSwitch is the floor of a yield: two coroutines of Go that do nothing but switch
// to each other; and with what a thread does around each switch besides.
func BenchmarkSwitch(b *testing.B) {
	run := func(b *testing.B, around func()) {
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			for yield(struct{}{}) {
				around()
			}
		})
		defer stop()
		b.ResetTimer()
		for range b.N / 2 {
			next()
			around()
		}
	}
	b.Run("bare", func(b *testing.B) { run(b, func() {}) })
	b.Run("locked", func(b *testing.B) {
		run(b, func() {
			runtime.LockOSThread()
			runtime.UnlockOSThread()
		})
	})
}

func nothing() {}

func BenchmarkSpawnJoin(b *testing.B) {
	b.Run("marcel", func(b *testing.B) {
		b.ReportAllocs()
		on(b, 1, func() {
			b.ResetTimer()
			for range b.N {
				_ = marcel.Spawn(nothing).Join()
			}
			b.StopTimer()
		})
	})
	b.Run("inline", func(b *testing.B) {
		b.ReportAllocs()
		on(b, 1, func() {
			b.ResetTimer()
			for range b.N {
				_ = marcel.Spawn(nothing).Join()
			}
			b.StopTimer()
		})
	})
	b.Run("goroutine", func(b *testing.B) {
		b.ReportAllocs()
		beside(b, 1, func() {
			var wg sync.WaitGroup
			for range b.N {
				wg.Add(1)
				go func() { wg.Done() }()
				wg.Wait()
			}
		})
	})
}

func BenchmarkSpawnBatch(b *testing.B) {
	b.Run("marcel", func(b *testing.B) {
		b.ReportAllocs()
		on(b, 1, func() {
			ts := make([]marcel.Thread, 1000)
			b.ResetTimer()
			for i := 0; i < b.N; i += len(ts) {
				for j := range ts {
					ts[j] = marcel.Spawn(nothing)
				}
				for _, t := range ts {
					_ = t.Join()
				}
			}
			b.StopTimer()
		})
	})
	b.Run("goroutine", func(b *testing.B) {
		b.ReportAllocs()
		beside(b, 1, func() {
			var wg sync.WaitGroup
			for i := 0; i < b.N; i += 1000 {
				wg.Add(1000)
				for range 1000 {
					go func() { wg.Done() }()
				}
				wg.Wait()
			}
		})
	})
}

// One operation is one wake-up.
func BenchmarkSemaphore(b *testing.B) {
	for _, vps := range []int{1, 2} {
		name := map[int]string{1: "1VP", 2: "2VP"}[vps]
		b.Run("marcel/"+name, func(b *testing.B) {
			on(b, vps, func() {
				var x, y marcel.Semaphore
				o := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(vps - 1)}, func() {
					for range b.N / 2 {
						x.Acquire()
						y.Release()
					}
				})
				b.ResetTimer()
				t := marcel.SpawnWith(marcel.Attr{VPs: marcel.OneVP(0)}, func() {
					for range b.N / 2 {
						x.Release()
						y.Acquire()
					}
				})
				_, _ = t.Join(), o.Join()
				b.StopTimer()
			})
		})
		b.Run("channel/"+name, func(b *testing.B) {
			beside(b, vps, func() {
				x, y := make(chan int), make(chan int)
				go func() {
					for range x {
						y <- 1
					}
				}()
				for range b.N / 2 {
					x <- 1
					<-y
				}
				close(x)
			})
		})
	}
}

// BenchmarkMailbox has one thread send bursts through a mailbox to another, which sends each message back through a
// second one. A burst is a quarter of what a mailbox holds.
func BenchmarkMailbox(b *testing.B) {
	for _, capacity := range []int{0, 16} {
		burst := max(capacity/4, 1)
		for _, vps := range []int{1, 2} {
			name := fmt.Sprintf("of_%d/%d", capacity, vps)
			b.Run("marcel/"+name, func(b *testing.B) {
				on(b, vps, func() {
					there, back := marcel.NewMailbox[int](capacity), marcel.NewMailbox[int](capacity)
					o := marcel.Spawn(func() {
						for {
							v, err := there.Recv()
							if err != nil {
								return // closed
							}
							_ = back.Send(v)
						}
					})
					b.ResetTimer()
					t := marcel.Spawn(func() {
						for range b.N / (2 * burst) {
							for i := range burst {
								_ = there.Send(i)
							}
							for range burst {
								_, _ = back.Recv()
							}
						}
						there.Close()
					})
					_, _ = t.Join(), o.Join()
					b.StopTimer()
				})
			})
			b.Run("channel/"+name, func(b *testing.B) {
				beside(b, vps, func() {
					there, back := make(chan int, capacity), make(chan int, capacity)
					go func() {
						for v := range there {
							back <- v
						}
					}()
					for range b.N / (2 * burst) {
						for i := range burst {
							there <- i
						}
						for range burst {
							<-back
						}
					}
					close(there)
				})
			})
		}
	}
}

// BenchmarkSelect has a thread that waits for a message or for the word to stop.
func BenchmarkSelect(b *testing.B) {
	b.Run("marcel", func(b *testing.B) {
		on(b, 1, func() {
			var box, stop marcel.Mailbox[int]
			sum := 0
			o := marcel.Spawn(func() {
				message, over := box.Receiver(), stop.Receiver()
				for marcel.Select(message, over) == 0 {
					sum += message.Value
				}
			})
			b.ResetTimer()
			t := marcel.Spawn(func() {
				for range b.N {
					_ = box.Send(1)
				}
				_ = stop.Send(0)
			})
			_, _ = t.Join(), o.Join()
			b.StopTimer()
			if sum != b.N {
				b.Errorf("%d messages of %d", sum, b.N)
			}
		})
	})
	b.Run("channel", func(b *testing.B) {
		beside(b, 1, func() {
			box, stop := make(chan int), make(chan int)
			go func() {
				for range b.N {
					box <- 1
				}
				stop <- 0
			}()
			for {
				select {
				case <-box:
				case <-stop:
					return
				}
			}
		})
	})
}

func BenchmarkMutex(b *testing.B) {
	b.Run("marcel", func(b *testing.B) {
		on(b, 1, func() {
			var m marcel.Mutex
			b.ResetTimer()
			for range b.N {
				m.Lock()
				//lint:ignore SA2001 the pair is what is measured
				m.Unlock()
			}
			b.StopTimer()
		})
	})
	b.Run("sync", func(b *testing.B) {
		var m sync.Mutex
		for range b.N {
			m.Lock()
			//lint:ignore SA2001 the pair is what is measured
			m.Unlock()
		}
	})
}

func BenchmarkSelf(b *testing.B) {
	on(b, 1, func() {
		me := marcel.Self()
		b.ResetTimer()
		for range b.N {
			if marcel.Self() != me {
				b.Fail()
			}
		}
		b.StopTimer()
	})
}
