// Package ported has two small programs twice: as one writes them with goroutines, and moved to threads by
// docs/migrating.md. A worker pool that collects results and stops at the first error, and a pipeline of three stages
// whose reader may leave early.
package ported
