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
