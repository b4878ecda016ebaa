package ours

// Module is an argument that only packages of this module can make: a function that takes one is for them alone.
type Module struct{}
