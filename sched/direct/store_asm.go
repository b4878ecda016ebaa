//go:build amd64 || arm64

package direct

//go:noescape
func storeRelease(p *uint32, v uint32)

//go:noescape
func loadAcquire(p *uint32) uint32
