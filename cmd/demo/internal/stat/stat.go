package stat

import (
	"math"
	"slices"
)

// Quantile interpolates linearly between the two samples around q (0 to 1). It is 0 of none. values may be in any
// order, and stays as it is.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return ofSorted(slices.Sorted(slices.Values(values)), q)
}

// Median is the quantile 0.5.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// MidMean is the mean of the middle half of values: what the median is about, more finely than the steps of the
// clock that they were taken with. It is 0 of none.
func MidMean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	v = v[len(v)/4 : len(v)-len(v)/4]
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// MedianWithin is a confidence interval for the median of what values are a sample of: two of the values, as close
// together as they may be for it to lie between them with at least that probability, whatever the distribution. ok:
// there are enough values for one.
func MedianWithin(values []float64, probability float64) (low, high float64, ok bool) {
	n := len(values)
	// How many of n values lie below the median is binomial. tail is the probability of at most k.
	// By logarithms, for 2^-n is too small for a float64 from some thousand values on.
	log := -float64(n) * math.Ln2
	k, tail := 0, math.Exp(log)
	for k < n/2 && 2*tail <= 1-probability {
		log += math.Log(float64(n-k) / float64(k+1))
		k++
		tail += math.Exp(log)
	}
	if k == 0 {
		return 0, 0, false
	}
	v := slices.Sorted(slices.Values(values))
	return v[k-1], v[n-k], true
}

func ofSorted(v []float64, q float64) float64 {
	at := q * float64(len(v)-1)
	i := int(at)
	if i+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// Summary is what is shown of many samples, in their unit.
type Summary struct {
	Count                              int
	Best, Q1, Median, Q3, Average, P99 float64
}

// Summarize sorts values and summarizes them. Of none it is zero.
func Summarize(values []float64) Summary {
	if len(values) == 0 {
		return Summary{}
	}
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Summary{
		Count: len(values), Best: values[0], Q1: ofSorted(values, 0.25), Median: ofSorted(values, 0.5),
		Q3: ofSorted(values, 0.75), Average: sum / float64(len(values)), P99: ofSorted(values, 0.99),
	}
}
