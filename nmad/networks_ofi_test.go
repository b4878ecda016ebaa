//go:build ofi && cgo && linux

package nmad

// railsBuiltIn are rails that the tests go over, too, in a program built with libfabric.
var railsBuiltIn = []string{"ofi:tcp,ofi:shm"}
