package progress

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/cwriter"
	"github.com/vbauerster/mpb/v8/decor"
)

const (
	refresh = 250 * time.Millisecond // seldom, for the bar's goroutines share a CPU with what is measured
	clear   = "\x1b[1A\x1b[J"        // to the bar's line, and clear from there
	home    = "\r"                   // to the first column: the terminal has echoed what was typed meanwhile, such as ^C
)

// Bar is a progress bar, or none. Safe for concurrent use.
type Bar struct {
	out   io.Writer // where what is printed goes
	frame *frames   // nil: no bar
	all   *mpb.Progress
	bar   *mpb.Bar
	began time.Time
	label atomic.Pointer[string]
	steps atomic.Int64  // done so far; read by follow
	end   chan struct{} // ends follow
	once  sync.Once
}

// New starts a bar of that many steps on stderr if that is a terminal. out is where the results go.
func New(total int64, out io.Writer, stderr *os.File) *Bar {
	b := &Bar{out: out}
	fd := int(stderr.Fd())
	if !cwriter.IsTerminal(fd) || os.Getenv("TERM") == "dumb" {
		return b
	}
	width, _, err := cwriter.GetSize(fd)
	if err != nil || width < 40 {
		return b // too narrow for a bar that says something
	}
	f := &frames{to: stderr}
	// The rows disturb the bar only if they appear on a terminal, too.
	if file, ok := out.(*os.File); ok && cwriter.IsTerminal(int(file.Fd())) {
		f.shared = true
	}
	b.start(total, f, min(width, 100))
	return b
}

func (b *Bar) start(total int64, f *frames, width int) {
	b.frame, b.began = f, time.Now()
	b.all = mpb.New(mpb.WithOutput(f), mpb.WithAutoRefresh(), mpb.WithRefreshRate(refresh), mpb.WithWidth(width))
	b.bar = b.all.New(total, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(
			decor.Any(func(decor.Statistics) string {
				if l := b.label.Load(); l != nil {
					return *l
				}
				return ""
			}),
			decor.Any(func(s decor.Statistics) string { return remaining(s.Current, s.Total, time.Since(b.began)) }),
		))
	b.end = make(chan struct{})
	go b.follow()
}

// remaining says how long the rest will take if it goes on as before: nothing as long as it cannot be told.
func remaining(done, total int64, elapsed time.Duration) string {
	if done <= 0 || done > total {
		return ""
	}
	left := time.Duration(float64(elapsed) * float64(total-done) / float64(done))
	return ", " + left.Round(time.Second).String() + " left"
}

// Label says what is being done now.
func (b *Bar) Label(text string) { b.label.Store(&text) }

// Add says that n more steps are done. It is one atomic addition, fit for threads that must not wait in a channel.
func (b *Bar) Add(n int64) { b.steps.Add(n) }

// follow moves the bar after the steps.
func (b *Bar) follow() {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.bar.SetCurrent(b.steps.Load())
		case <-b.end:
			return
		}
	}
}

// Write prints results, above the bar if there is one. It implements io.Writer, so that reports can be written through
// it.
func (b *Bar) Write(text []byte) (int, error) {
	if b.frame == nil {
		return b.out.Write(text)
	}
	return b.frame.above(b.out, text)
}

// Done removes the bar. Idempotent; Write keeps working.
func (b *Bar) Done() {
	if b.bar == nil {
		return
	}
	b.once.Do(func() {
		close(b.end)
		b.bar.Abort(true)
		b.all.Wait()
		b.frame.finish()
	})
}

// frames passes the bar's frames on and keeps results out of their way.
type frames struct {
	mu     sync.Mutex
	to     io.Writer
	shared bool // results go to a terminal, too
	drawn  bool // the cursor is one line below a bar
	over   bool
}

// Write implements io.Writer for the bar: one frame.
func (f *frames) Write(frame []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return len(frame), nil
	}
	if f.drawn = len(frame) > 0; !f.drawn {
		return 0, nil
	}
	n, err := f.to.Write(append([]byte(home), frame...))
	return max(n-len(home), 0), err
}

func (f *frames) above(out io.Writer, text []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.shared || !f.drawn || f.over {
		return out.Write(text)
	}
	if _, err := io.WriteString(f.to, home+clear); err != nil {
		return 0, err
	}
	n, err := out.Write(text)
	if err == nil {
		// The next frame begins by clearing the line above the cursor.
		_, err = io.WriteString(f.to, "\n")
	}
	return n, err
}

// finish clears what the bar left and lets nothing more through.
func (f *frames) finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
}
