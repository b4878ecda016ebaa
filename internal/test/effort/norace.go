//go:build !race

package effort

const Slower = 1
