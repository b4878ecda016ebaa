package cpus

// Share divides processors among n processes: disjoint, as even as possible, in
// their order. nil if there are fewer processors than processes.
func Share(cpus []int, n int) [][]int {
	if len(cpus) < n {
		return nil
	}
	sets := make([][]int, n)
	for i := range sets {
		sets[i] = cpus[i*len(cpus)/n : (i+1)*len(cpus)/n]
	}
	return sets
}
