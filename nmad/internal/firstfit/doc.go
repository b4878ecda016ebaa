// Package firstfit gives out parts of a memory, in units that its owner chooses.
package firstfit
