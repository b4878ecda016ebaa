package cpus

// Share divides processors among n processes, as evenly as possible, in their order: disjoint, or, if there are more
// processes than processors, one for each, which neighbours share. nil if there is no processor.
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
