//go:build !ofi || !cgo || !linux

package nmad

var railsBuiltIn []string
