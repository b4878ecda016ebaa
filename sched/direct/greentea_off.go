//go:build !goexperiment.greenteagc

package direct

const pPreempt = 9520
