// Package crossover computes up to which size messages go eagerly, and over which rails the bytes of longer messages
// come, from the costs of the rails that were measured or assumed. Its functions are pure.
package crossover
