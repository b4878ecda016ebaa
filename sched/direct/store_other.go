//go:build !amd64 && !arm64

package direct

import "sync/atomic"

func storeRelease(p *uint32, v uint32) { atomic.StoreUint32(p, v) }
func loadAcquire(p *uint32) uint32     { return atomic.LoadUint32(p) }
