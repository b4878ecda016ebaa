//go:build !ofi || !cgo || !linux

package am

var builtIn []string
