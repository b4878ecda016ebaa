// Package metrics publishes a scheduler's counters through expvar, for programs that have an HTTP server: they are then
// at /debug/vars.
//
//	import "github.com/pm2-go/pm2/marcel/metrics"
//
//	err := metrics.Publish("marcel")
//
// It is a package of its own because expvar imports net/http. Package monitor shows the same counters to other
// processes of the host without it.
package metrics
