package stat

import "github.com/pm2-go/pm2/asm"

// ClockOverhead is the least that two readings of the cycle counter in a row are apart, in cycles: what timing adds to
// every sample.
func ClockOverhead() int64 {
	least := int64(1 << 62)
	for range 10000 {
		t0 := asm.Cycles()
		t1 := asm.Cycles()
		least = min(least, t1-t0)
	}
	return max(least, 0)
}
