package manager

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pm2-go/pm2/nmad/driver"
)

// parseMapping parses the placement of the ranks, which managers put under the key PMI_process_mapping, such as
//
//	(vector,(0,2,4),(2,1,8))
//
// Each block has the number of its first node, the number of its nodes, and the processes on each of them. In the
// example nodes 0 and 1 have 4 ranks each, and node 2 has 8. If there are more ranks than that, the blocks begin again
// from the first one. parseMapping returns the number of the node of each rank.
func parseMapping(text string, size int) ([]int, error) {
	wrong := func(why string) ([]int, error) {
		return nil, fmt.Errorf("the mapping %.80q of %d processes: %s", text, size, why)
	}
	inner, begins := strings.CutPrefix(text, "(vector,(")
	inner, ends := strings.CutSuffix(inner, "))")
	if !begins || !ends {
		return wrong("(vector,(first node,nodes,processes on each),...) was expected")
	}
	var blocks [][3]int
	for block := range strings.SplitSeq(inner, "),(") {
		numbers := strings.Split(block, ",")
		if len(numbers) != 3 {
			return wrong("a block of it is not (first node,nodes,processes on each)")
		}
		var b [3]int
		for i, n := range numbers {
			v, err := strconv.Atoi(n)
			if err != nil || v < 0 || v > driver.MaxSize || i > 0 && v == 0 {
				return wrong("a number of it is out of range")
			}
			b[i] = v
		}
		if b[0]+b[1] > driver.MaxSize {
			return wrong("it has more nodes than a job has processes")
		}
		blocks = append(blocks, b)
	}
	nodes := make([]int, 0, size)
	for i := 0; len(nodes) < size; i = (i + 1) % len(blocks) {
		b := blocks[i]
		for n := b[0]; n < b[0]+b[1] && len(nodes) < size; n++ {
			for range min(b[2], size-len(nodes)) {
				nodes = append(nodes, n)
			}
		}
	}
	return nodes, nil
}
