//go:build !ofi || !cgo || !linux

package rma

var builtIn []way

const processesBuiltIn = ""
