// Package crossover says up to which size a message goes eagerly, and over which rails the bytes of a longer one come, from
// what the rails cost and what was measured.
package crossover
