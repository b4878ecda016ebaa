//go:build !portable && (!go1.26 || go1.28 || !linux || !(amd64 || (arm64 && !cgo)))

package direct

const chosenPortable = false
