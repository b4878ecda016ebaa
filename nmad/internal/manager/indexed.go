package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
	"time"

	"github.com/pm2-go/pm2/internal/kernel"
)

// EnvIndex is the rank of a process in an indexed job of Kubernetes, which sets it.
const EnvIndex = "JOB_COMPLETION_INDEX"

// askAgain is the pause between two questions for a name. Name servers remember for seconds that there was none.
const askAgain = 500 * time.Millisecond

// Index is the rank of this process in such a job, as text; "": it is not in one.
func Index(get func(string) string) string {
	if Find(get).Kind != Indexed {
		return ""
	}
	return get(EnvIndex)
}

// MeetByName is what a process of an indexed job does in the place of Agree: it waits until the name of rank 0 is known,
// which is so some time after rank 0 has started, and finds out at which address of this host the others reach it: that
// from which the way to rank 0 leaves, or the first of ifaces (PM2_IFACE), if it is not empty. Rank 0 also listens at
// where, which is host:port.
func MeetByName(ctx context.Context, rank int, where, ifaces string) (at string, l net.Listener, err error) {
	var own host
	if ifaces != "" {
		if own, err = ownHost(ifaces); err != nil {
			return "", nil, err // no need to wait
		}
	}
	name, port, err := net.SplitHostPort(where)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err == nil && name == "" {
		err = errors.New("no name")
	}
	if err != nil {
		return "", nil, fmt.Errorf("PM2_RENDEZVOUS=%.80q: give rank 0 by its name and a port, such as job-0.service:7070: %w", where, err)
	}
	for {
		if at, l, err = meetAt(ctx, rank, name, port); err == nil {
			if ifaces != "" {
				at = own.addrs[0].Addr().String()
			}
			return at, l, nil
		}
		if errors.Is(err, syscall.EADDRINUSE) { // this is the right host
			return "", nil, fmt.Errorf("PM2_RENDEZVOUS=%.80q: %w: give another port", where, err)
		}
		select {
		case <-ctx.Done():
			return "", nil, fmt.Errorf("PM2_RENDEZVOUS=%.80q: %w: last attempt: %w", where, context.Cause(ctx), err)
		case <-time.After(askAgain):
		}
	}
}

// meetAt asks for the name once. The answer may be the address of an earlier rank 0: then rank 0 cannot listen there.
func meetAt(ctx context.Context, rank int, name, port string) (at string, l net.Listener, err error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return "", nil, err
	}
	err = errors.New("it has no address")
	for _, a := range addrs {
		there := net.JoinHostPort(a.Unmap().String(), port)
		if rank == 0 {
			if l, err = kernel.Listen("tcp", there); err == nil {
				return a.Unmap().String(), l, nil
			}
			continue
		}
		var c net.Conn
		if c, err = net.Dial("udp", there); err == nil { // sends nothing
			at, _, _ = net.SplitHostPort(c.LocalAddr().String())
			c.Close()
			return at, nil, nil
		}
	}
	return "", nil, err
}
