// Package sealed has memory without a name, which processes pass to one another by its descriptor: a memfd
// whose size is sealed, so that no access to a mapping of it can end in a SIGBUS. Linux only.
package sealed
