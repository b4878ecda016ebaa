package drivertest

import (
	"testing"

	"github.com/pm2-go/pm2/nmad/driver"
)

// Config is that of a rank of a job of two, for tests of one driver.
func Config(rank int) driver.Config {
	return driver.Config{Rank: rank, Size: 2, Job: "a job", Secret: []byte("a secret of some bytes")}
}

// Open opens a driver until the test is over.
func Open(t testing.TB, d driver.Driver, c driver.Config) driver.Endpoint {
	t.Helper()
	e, err := d.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}
