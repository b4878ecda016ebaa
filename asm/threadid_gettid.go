//go:build linux

package asm

import "golang.org/x/sys/unix"

// gettid asks the kernel; it cannot fail.
func gettid() uintptr { return uintptr(unix.Gettid()) }
