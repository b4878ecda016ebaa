//go:build portable

package direct

const chosenPortable = true
