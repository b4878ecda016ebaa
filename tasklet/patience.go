package tasklet

import (
	"runtime"
	"time"

	"github.com/pm2-go/pm2/asm"
)

// patience waits for something short that happens elsewhere, politely: it spins
// for about a microsecond or two, because tasklets are that short; then lets
// other goroutines run, because the one we wait for may need our processor;
// then sleeps, longer and longer, up to 1 ms, because it may have lost its own.
// The zero value is ready.
type patience struct{ tries int }

const (
	spins  = 64
	yields = 64
)

func (p *patience) pause() {
	switch {
	case p.tries < spins:
		asm.Pause()
	case p.tries < spins+yields:
		runtime.Gosched()
	default:
		time.Sleep(min(time.Millisecond, 20*time.Microsecond<<min(p.tries-spins-yields, 10)))
	}
	p.tries++
}
