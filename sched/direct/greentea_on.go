//go:build goexperiment.greenteagc

package direct

// pPreempt lies behind what a P has for the collector, which is larger with GOEXPERIMENT
// greenteagc, the default.
const pPreempt = 13776
