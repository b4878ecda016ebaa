//go:build !linux

package pioman

import (
	"errors"
	"time"
)

// kernel without epoll: wakes work, sources cannot be watched, so that AddSource says
// ErrSource and tasks have to be Blind.
type kernel struct{ rung chan struct{} }

func openKernel() (*kernel, error) { return &kernel{rung: make(chan struct{}, 1)}, nil }

func (k *kernel) add(int) error { return errors.ErrUnsupported }
func (k *kernel) remove(int)    {}
func (k *kernel) unref()        {}

func (k *kernel) wait(limit time.Duration) slept {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-k.rung:
		return disturbed
	case <-t.C:
		return undisturbed
	}
}

func (k *kernel) pause(d time.Duration) slept { return k.wait(d) }

func (k *kernel) wake() {
	select {
	case k.rung <- struct{}{}:
	default:
	}
}

func sleepCPU(d time.Duration) { time.Sleep(d) }

// epollSet without epoll: nothing can be watched.
type epollSet struct{}

type readyList struct{}

func openEpollSet() (epollSet, error) { return epollSet{}, errors.ErrUnsupported }
func (epollSet) descriptor() int      { return -1 }
func (epollSet) close()               {}

const anyEdge = 0

func (epollSet) add(int, uint32, int32, int32) error    { return errors.ErrUnsupported }
func (epollSet) remove(int)                             {}
func (epollSet) ready(*readyList) int                   { return 0 }
func (*readyList) event(int) (a, b int32, in, out bool) { return }
