//go:build cgo && linux

package main

import "strconv"

func decimal(n int) string { return strconv.Itoa(n) }
