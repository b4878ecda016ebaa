// Package firstfit is a first-fit allocator: it keeps the list of the free parts of a memory, in units that the owner
// of the memory chooses. It touches no memory itself.
package firstfit
