//go:build !cgo || !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "abi: a library for C, on Linux: build it with cgo, by go run ./nmad/mpi/abi/internal/build")
	os.Exit(1)
}
