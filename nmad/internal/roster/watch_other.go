//go:build !linux

package roster

import "context"

// ended cannot watch a process on this system.
func ended(ctx context.Context, _ int, _ uint64) bool { return false }

// StartTime is not known on this system.
func StartTime(int) uint64 { return 0 }
