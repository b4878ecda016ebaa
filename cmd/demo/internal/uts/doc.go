// Package uts builds the trees of the Unbalanced Tree Search benchmark (Olivier et al., LCPC 2006), the field's test of
// dynamic load balancing: how many children a node has follows from a SHA-1 hash of its path, so the tree is the same
// everywhere, no program knows its shape beforehand, and its size is public.
package uts
