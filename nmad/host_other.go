//go:build !linux

package nmad

import "os"

// hostIdentity names this host.
func hostIdentity() string {
	name, _ := os.Hostname()
	return name
}
