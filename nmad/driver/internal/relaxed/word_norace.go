//go:build !race

package relaxed

// Store writes a word.
func Store(p *uint64, v uint64) { *p = v }

// Load reads it.
func Load(p *uint64) uint64 { return *p }
