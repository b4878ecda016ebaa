//go:build ofi && cgo && linux

package rma

// What the suite goes over, too, in a program built with it.
var builtIn = []way{{"ofi:shm", "ofi:shm", 3, options{}}, {"ofi:shm apart", "ofi:shm", 3, options{apart: true}}, {"ofi:tcp", "ofi:tcp", 3, options{}}, {"ofi:tcp short", "ofi:tcp", 3, options{remoteFrom: 1}}, {"ofi:tcp messages", "ofi:tcp", 3, options{messages: true}}, {"ofi rails", "ofi:shm,ofi:tcp", 3, options{}}}

const processesBuiltIn = " ofi:shm/mapped ofi:shm/apart ofi:tcp/mapped ofi:tcp/messages"
