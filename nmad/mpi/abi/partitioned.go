//go:build cgo && linux

package main

import "github.com/pm2-go/pm2/nmad/mpi"

// partitionedArgs reads the arguments of MPI_Psend_init and MPI_Precv_init.
func (a *cCall) partitionedArgs(receives bool) (e envelope, parts int, err error) {
	if e.comm, err = a.comm(6); err != nil {
		return
	}
	if e.rank, e.tag, err = e.comm.checkPeer(a.int(4), a.int(5), receives); err != nil {
		return
	}
	if parts = a.int(1); parts < 1 {
		err = errorf(errArg, "%d parts", parts)
		return
	}
	n, err := a.count(2)
	if err != nil {
		return
	}
	t, err := a.committed(3)
	if err != nil {
		return
	}
	e.buffer, err = a.elementsAt(0, n*parts, t)
	return
}

// initPartitioned makes a request of a partitioned message by init.
func (a *cCall) initPartitioned(receives bool, init func(*mpi.Comm, mpi.Buffer, int, int, int) (*mpi.Partitioned, error)) (*cRequest, error) {
	e, n, err := a.partitionedArgs(receives)
	if err != nil {
		return nil, err
	}
	p, err := init(e.comm.p2p, e.buffer, n, e.rank, e.tag)
	if err != nil {
		return nil, err
	}
	return &cRequest{comm: e.comm, req: p.Request, partitioned: p, noStatus: !receives, persistent: true}, nil
}

func (a *cCall) psendInit() (*cRequest, error) {
	return a.initPartitioned(false, mpi.NewPartitionedSend)
}
func (a *cCall) precvInit() (*cRequest, error) {
	return a.initPartitioned(true, mpi.NewPartitionedReceive)
}

// partitioned is the request of a partitioned message.
type partitioned = cRequest

// partitioned returns the request whose handle is argument i. It refuses one that is not of a partitioned message.
func (a *cCall) partitioned(i int) (*partitioned, error) {
	r, err := a.request(a.handle(i))
	if err == nil && (r == nil || r.partitioned == nil) {
		err = errorf(errRequest, "it is no request of a partitioned message")
	}
	return r, err
}

func (a *cCall) pready(part int, r *partitioned) error { return r.partitioned.Ready(part) }

func (a *cCall) preadyRange(low, high int, r *partitioned) error {
	for i := low; i <= high; i++ {
		if err := r.partitioned.Ready(i); err != nil {
			return err
		}
	}
	return nil
}

func (a *cCall) preadyList(parts []int, r *partitioned) error { return r.partitioned.Ready(parts...) }

func (a *cCall) parrived(r *partitioned, part int) (bool, error) {
	if r.idle() {
		return true, nil
	}
	return r.partitioned.Arrived(part)
}
