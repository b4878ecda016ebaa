package auto

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pm2-go/pm2/nmad/driver"
)

// endpoint is the driver opened in this process.
type endpoint struct {
	host        string
	ends        []driver.Endpoint // by number of the network; nil: not available here
	unavailable []error           // by number of the network: why; nil: it is available, or was not tried

	mu     sync.Mutex
	spare  []arrival          // links that came together with others
	linked map[int]linkChoice // how the last link was made, by rank
	closed bool
}

// linkChoice is how the last link to a rank was made, for people.
type linkChoice struct {
	number int
	dialed bool
	failed error // errors of the networks that were tried before
}

type arrival struct {
	number int
	rank   int
	link   driver.Link
	err    error
}

// Addr implements driver.Endpoint.
func (e *endpoint) Addr() string {
	words := []string{e.host}
	for _, end := range e.ends {
		if end == nil {
			words = append(words, none)
		} else {
			words = append(words, end.Addr())
		}
	}
	return strings.Join(words, " ")
}

// fits reports whether a network can lead to a process of that host. The last one can always.
func (e *endpoint) fits(number int, host string) bool {
	return number == lastNetwork || (e.host == host && host != none) == (number < localNetworks)
}

// Dial implements driver.Endpoint. It tries the networks that fit, the best one first.
func (e *endpoint) Dial(ctx context.Context, rank int, addr string) (driver.Link, error) {
	host, at, err := parse(addr)
	if err != nil {
		return nil, fmt.Errorf("auto: cannot link to rank %d at %q: %w", rank, addr, err)
	}
	var failed error
	for number := range networks {
		if !e.fits(number, host) || e.ends[number] == nil || at[number] == none {
			continue
		}
		l, err := e.ends[number].Dial(ctx, rank, at[number])
		if err == nil {
			e.remember(rank, linkChoice{number, true, failed})
			return l, nil
		}
		if ctx.Err() != nil || errors.Is(err, driver.ErrRefused) || errors.Is(err, driver.ErrClosed) {
			failed = joinErrors(failed, err)
			break
		}
		if errors.Is(err, driver.ErrLack) && number < lastNetwork {
			err = errors.New(err.Error()) // what this network lacks does not classify the link
		}
		failed = joinErrors(failed, err)
	}
	return nil, fmt.Errorf("auto: cannot link to rank %d at %q: %w", rank, addr, failed)
}

// joinErrors puts two errors into one line. a may be nil.
func joinErrors(a, b error) error {
	if a == nil {
		return b
	}
	return fmt.Errorf("%w; %w", a, b)
}

func (e *endpoint) remember(rank int, l linkChoice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.linked[rank] = l
}

// Choice implements driver.Endpoint.
func (e *endpoint) Choice(rank int, addr string) (network, why string) {
	host, at, err := parse(addr)
	e.mu.Lock()
	l, ok := e.linked[rank]
	e.mu.Unlock()
	if err != nil || !ok {
		return "", ""
	}
	network = networks[l.number].Name()
	if e.fits(0, host) {
		why = "both processes are on one host"
	} else {
		why = difference(e.host, host)
	}
	if l.number >= localNetworks {
		if _, more := e.ends[l.number].Choice(rank, at[l.number]); more != "" {
			why += "; " + more
		}
	}
	for number := range l.number {
		better := networks[number].Name()
		switch {
		case !e.fits(number, host):
		case e.ends[number] == nil:
			why += fmt.Sprintf("; %s does not work here: %v", better, e.unavailable[number])
		case at[number] == none:
			why += fmt.Sprintf("; the other one has no %s", better)
		case !l.dialed:
			why += fmt.Sprintf("; %s did not work for the other one", better)
		}
	}
	if l.failed != nil {
		why += fmt.Sprintf("; %v", l.failed)
	}
	return network, why
}

// Accept implements driver.Endpoint: it returns the next link, over whichever network it comes.
func (e *endpoint) Accept(ctx context.Context) (int, driver.Link, error) {
	if a, ok := e.takeSpare(); ok {
		return a.rank, a.link, nil
	}
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	came := make(chan arrival)
	waits := 0
	for number, end := range e.ends {
		if end == nil {
			continue
		}
		waits++
		go func() {
			rank, link, err := end.Accept(ctx)
			came <- arrival{number, rank, link, err}
		}()
	}
	var first *arrival
	var failed error
	for range waits {
		a := <-came
		enough()
		switch {
		case a.err != nil:
			failed = joinErrors(failed, a.err)
		case first == nil:
			first = &a
			e.remember(a.rank, linkChoice{number: a.number})
		default:
			e.keepSpare(a)
		}
	}
	if first == nil {
		return -1, nil, fmt.Errorf("auto: accept: %w", failed)
	}
	return first.rank, first.link, nil
}

// takeSpare returns a link that came together with an earlier one.
func (e *endpoint) takeSpare() (arrival, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.spare) == 0 {
		return arrival{}, false
	}
	a := e.spare[0]
	e.spare = e.spare[1:]
	return a, true
}

// keepSpare keeps a link for the next call of Accept.
func (e *endpoint) keepSpare(a arrival) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		_ = a.link.Close()
		return
	}
	e.linked[a.rank] = linkChoice{number: a.number}
	e.spare = append(e.spare, a)
}

// Close implements driver.Endpoint.
func (e *endpoint) Close() error {
	var err error
	for _, end := range e.ends {
		if end != nil {
			err = errors.Join(err, end.Close())
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	for _, a := range e.spare {
		_ = a.link.Close()
	}
	e.spare = nil
	return err
}
