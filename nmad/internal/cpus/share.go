package cpus

// Share divides processors among n processes, in their order and as evenly as possible. The shares are disjoint; if
// there are more processes than processors, each share is one processor, which neighboring processes have in common.
// Share returns nil if there is no processor. The shares are slices of cpus.
func Share(cpus []int, n int) [][]int {
	if len(cpus) == 0 {
		return nil
	}
	sets := make([][]int, n)
	for i := range sets {
		first := i * len(cpus) / n
		sets[i] = cpus[first:max(first+1, (i+1)*len(cpus)/n)]
	}
	return sets
}
