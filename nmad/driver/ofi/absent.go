//go:build !ofi || !linux || !cgo

package ofi

import "github.com/pm2-go/pm2/nmad/driver"

func init() {
	driver.Absent(Name, "this program was built without it: build for Linux with -tags ofi, cgo, and libfabric 1.14 or later (Debian: libfabric-dev)")
}

// Between is the drivers that go before TCP between hosts: none.
func Between() []driver.Driver { return nil }
