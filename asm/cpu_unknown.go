//go:build !linux

package asm

// CPU returns -1: this system does not say which processor the caller runs on.
func CPU() int { return -1 }
