package strategy

// SplitEqual gives each rail the same share of a long message, whatever the rails cost. It treats short messages as
// Aggregation does.
var SplitEqual = builtin(splitEqual{})

type splitEqual struct{ aggregation }

func (splitEqual) Name() string { return "split-equal" }

// Split implements Splitter.
func (splitEqual) Split(rest int, rails []Load, shares []int) {
	n := len(rails)
	if rest < n*minShare {
		n = max(rest/minShare, 1)
	}
	for i := range n {
		shares[i] = rest / n
	}
	shares[0] += rest % n
}
