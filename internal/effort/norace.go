//go:build !race

package effort

const slower = 1
