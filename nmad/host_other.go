//go:build !linux

package nmad

import "os"

// hostIdentity names this host.
func hostIdentity() string {
	name, _ := os.Hostname()
	return name
}

// ownerOf takes a file for our own: this system does not say.
func ownerOf(os.FileInfo) int { return os.Geteuid() }
