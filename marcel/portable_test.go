//go:build portable

package marcel_test

const portable = true
