//go:build portable

package direct

// Chosen says that the portable mode was asked for, by the build tag.
const Chosen = true
