//go:build !portable && (!go1.26 || go1.28 || !linux || !(amd64 || (arm64 && !cgo)) || goexperiment.staticlockranking || goexperiment.runtimesecret)

package direct

const chosenPortable = false
