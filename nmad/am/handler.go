package am

import (
	"sync"
	"sync/atomic"

	"github.com/pm2-go/pm2/marcel"
	"github.com/pm2-go/pm2/nmad"
)

// ID names a handler, in all processes of the job. The 256 highest are the package's.
type ID uint32

// firstReserved is the first of the package's own.
const firstReserved ID = 1<<32 - 256

// Handler handles a message: a request or, named by Token.ReplyTo, a reply. args and body are valid until it returns. It is run by the thread that polls, perhaps a hook of the
// scheduler, so it must neither block nor wait (ErrInHandler); it may Reply, TryRequest, and start requests of nmad. Those of messages from one domain
// of a peer run one at a time; of different peers and domains several may run at once. If it panics the program ends.
type Handler func(t *Token, args []uint64, body []byte)

// World is the active messages of a session of nmad: handlers, which all domains reach, and domains. Safe for concurrent use.
type World struct {
	s        *nmad.Session
	cfg      Config
	def      *Domain
	handlers atomic.Pointer[handlers]
	calls    calls
	served   served

	mu      marcel.SpinLock           // callbacks take it
	domains atomic.Pointer[[]*Domain] // that are open; mu serializes changes
	waiting map[int][]address         // greetings of domains that were not opened yet, by their numbers; mu
	closed  bool                      // mu
	dropped atomic.Uint64

	control *nmad.Context
	hellos  []*hello
	stop    func() // the monitor
	close   sync.Once
	ended   atomic.Bool
	failure error
}

// handlers are those of a world. It does not change.
type handlers struct {
	few  [64]Handler // of the lowest ids
	more map[ID]Handler
}

func (h *handlers) find(id ID) Handler {
	if int(id) < len(h.few) {
		return h.few[id]
	}
	return h.more[id]
}
