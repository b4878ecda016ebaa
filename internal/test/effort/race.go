//go:build race

package effort

// Slower is by how much less is done under the race detector, and how many times as long what is done may take.
const Slower = 2
