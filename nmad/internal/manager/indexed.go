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

// EnvIndex is the variable by which Kubernetes tells a process of an indexed job its rank.
const EnvIndex = "JOB_COMPLETION_INDEX"

// lookupPause is the pause between two lookups of a name. A name server remembers for some seconds that a name did not
// exist, so asking more often is of no use.
const lookupPause = 500 * time.Millisecond

// Index returns the rank of this process in an indexed job, as text; "" if the process is not in one.
func Index(get func(string) string) string {
	if Find(get).Kind != Indexed {
		return ""
	}
	return get(EnvIndex)
}

// MeetByName takes the place of Agree in an indexed job. where is the name and port of rank 0, host:port. MeetByName
// waits until the name has an address, which it gets some time after rank 0 has started, or until ctx ends. It returns
// at, the address of this host at which the others reach this process: the first of ifaces (PM2_IFACE), or, if ifaces
// is empty, the address from which packets to rank 0 leave. On rank 0 it also returns a socket that listens at where,
// which the caller closes.
func MeetByName(ctx context.Context, rank int, where, ifaces string) (at string, l net.Listener, err error) {
	var own host
	if ifaces != "" {
		if own, err = ownHost(ifaces); err != nil {
			return "", nil, err // wrong ifaces: waiting for rank 0 would not help
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
		if errors.Is(err, syscall.EADDRINUSE) { // the address is this host's, so the name is right and the port is taken
			return "", nil, fmt.Errorf("PM2_RENDEZVOUS=%.80q: %w: give another port", where, err)
		}
		select {
		case <-ctx.Done():
			return "", nil, fmt.Errorf("PM2_RENDEZVOUS=%.80q: %w: last attempt: %w", where, context.Cause(ctx), err)
		case <-time.After(lookupPause):
		}
	}
}

// meetAt looks the name up once. The name server may still answer with the address of an earlier rank 0; then rank 0
// cannot listen there, and meetAt fails.
func meetAt(ctx context.Context, rank int, name, port string) (at string, l net.Listener, err error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return "", nil, err
	}
	err = errors.New("it has no address")
	for _, a := range addrs {
		there := net.JoinHostPort(a.Unmap().String(), port)
		if rank == 0 {
			at = a.Unmap().String()
			l, err = kernel.Listen("tcp", there)
		} else {
			at, err = routeFrom(there)
		}
		if err == nil {
			return at, l, nil
		}
	}
	return "", nil, err
}
