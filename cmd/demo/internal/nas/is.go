package nas

import (
	"fmt"
	"slices"

	"github.com/pm2-go/pm2/nmad/mpi"
)

// The sizes of IS, and the published ranks of five keys.
var isClasses = []struct {
	keys, most int // as powers of two: how many keys, and how large
	index      [5]int
	rank       [5]int
	up         int             // of so many of the keys the rank grows from iteration to iteration, of the others it falls
	shift      func(i int) int // by how much, in iteration i
	down       func(i int) int
}{
	{16, 11, [5]int{48427, 17148, 23627, 62548, 4431}, [5]int{0, 18, 346, 64917, 65463}, 3, func(i int) int { return i }, func(i int) int { return i }},
	{20, 16, [5]int{357773, 934767, 875723, 898999, 404505}, [5]int{1249, 11698, 1039987, 1043896, 1048018}, 2, func(i int) int { return i - 2 }, func(i int) int { return i }},
	{23, 19, [5]int{2112377, 662041, 5336171, 3642833, 4250760}, [5]int{104, 17523, 123928, 8288932, 8388264}, 3, func(i int) int { return i - 1 }, func(i int) int { return i - 1 }},
}

const isIterations = 10

// integerSort is the keys of one rank, and where it sorts them.
type integerSort struct {
	c       *mpi.Comm
	class   int
	keys    []int32 // of this rank: those from first on
	first   int
	changed []int32 // the keys that iterations change, as they were: the first ones of all, as far as this rank has them

	buckets int
	own     []int64 // keys of this rank, by bucket
	place   []int64 // where the next one of a bucket goes
	counts  []int64 // keys of all ranks, by bucket
	sorted  []int32 // by bucket
	got     []int32 // keys of this rank's buckets
	low     int32   // the lowest key that may be there
	alike   []int64 // how many of got have a value, from low on
}

// isState is how many ranks of keys a run has found as published.
type isState struct {
	*integerSort
	passed int
}

// newIS makes the keys: sums of four random numbers.
func newIS(c *mpi.Comm, class int) problem {
	x := isClasses[class]
	all := 1 << x.keys
	s := &integerSort{c: c, class: class, first: c.Rank() * all / c.Size(), buckets: min(1<<10, 1<<x.most)}
	s.keys = make([]int32, (c.Rank()+1)*all/c.Size()-s.first)
	r := random(314159265)
	r.skip(4 * s.first)
	for i := range s.keys {
		sum := r.next() + r.next() + r.next() + r.next()
		s.keys[i] = int32(float64(int(1)<<x.most/4) * sum)
	}
	s.own, s.place, s.counts, s.sorted = make([]int64, s.buckets), make([]int64, s.buckets), make([]int64, s.buckets), make([]int32, len(s.keys))
	if s.first < 2*isIterations+1 {
		s.changed = slices.Clone(s.keys[:min(len(s.keys), 2*isIterations+1-s.first)])
	}
	return s
}

func (is *integerSort) steps() int   { return isIterations }
func (is *integerSort) begin() state { return &isState{integerSort: is} }

func (s *isState) set(from state) { s.passed = from.(*isState).passed }

// key gives a key of all a value, at the rank that has it.
func (is *integerSort) key(i int, value int32) {
	if i >= is.first && i < is.first+len(is.keys) {
		is.keys[i-is.first] = value
	}
}

// step changes two keys, sorts all by bucket, and finds the ranks of five. All iterations up to this one have changed
// keys, and no later one has, whatever other runs have done.
func (s *isState) step(i int) error {
	x := isClasses[s.class]
	i++ // the benchmark counts from 1 on
	copy(s.keys, s.changed)
	for k := 1; k <= i; k++ {
		s.key(k, int32(k))
		s.key(k+isIterations, int32(1<<x.most-k))
	}
	values := make([]int32, 5)
	for k, at := range x.index {
		if at >= s.first && at < s.first+len(s.keys) {
			values[k] = s.keys[at-s.first]
		}
	}
	if err := mpi.Allreduce(s.c, mpi.Max, nil, values); err != nil {
		return err
	}
	before, err := s.distribute()
	if err != nil {
		return err
	}
	ranks := s.ranks(before, values)
	if err := mpi.Allreduce(s.c, mpi.Max, nil, ranks); err != nil {
		return err
	}
	for k, got := range ranks {
		want := x.rank[k] - x.down(i)
		if k < x.up {
			want = x.rank[k] + x.shift(i)
		}
		if int(got) != want {
			return fmt.Errorf("iteration %d: key %d has the rank %d, published is %d", i, x.index[k], got, want)
		}
		s.passed++
	}
	return nil
}

// verify sorts the keys that the last iteration has distributed; the benchmark does not time that.
func (s *isState) verify() (string, error) {
	slices.Sort(s.got)
	ends := []int32{0, 0}
	if n := len(s.got); n > 0 {
		ends[0], ends[1] = s.got[0], s.got[n-1]
	}
	all := make([]int32, 2*s.c.Size())
	sizes := make([]int64, s.c.Size())
	if err := mpi.Allgather(s.c, ends, all); err != nil {
		return "", err
	}
	if err := mpi.Allgather(s.c, []int64{int64(len(s.got))}, sizes); err != nil {
		return "", err
	}
	last, n := int32(-1), int64(0)
	for r, size := range sizes {
		if n += size; size > 0 && (all[2*r] < last || all[2*r+1] < all[2*r]) {
			return "", fmt.Errorf("the keys of rank %d are not behind those before it", r)
		} else if size > 0 {
			last = all[2*r+1]
		}
	}
	if all := int64(1) << isClasses[s.class].keys; n != all {
		return "", fmt.Errorf("%d keys are left of %d", n, all)
	}
	if s.passed != 5*isIterations {
		return "", fmt.Errorf("%d ranks of keys were found, of %d", s.passed, 5*isIterations)
	}
	return fmt.Sprintf("%d ranks of keys, and the order", s.passed), nil
}

// distribute gives each rank the keys of some buckets, about as many to each, and says how many keys there are in the
// buckets before its own.
func (is *integerSort) distribute() (before int64, err error) {
	x, size := isClasses[is.class], is.c.Size()
	shift := 0
	for is.buckets<<shift < 1<<x.most {
		shift++
	}
	own, place := is.own, is.place
	clear(own)
	for _, k := range is.keys {
		own[k>>shift]++
	}
	place[0] = 0
	for b := 1; b < is.buckets; b++ {
		place[b] = place[b-1] + own[b-1]
	}
	for _, k := range is.keys {
		is.sorted[place[k>>shift]] = k
		place[k>>shift]++
	}
	if err := mpi.Allreduce(is.c, mpi.Sum, own, is.counts); err != nil {
		return 0, err
	}
	send, receive := make([]int, size), make([]int, size)
	sum, rank, mine := int64(0), 0, int64(0)
	is.low = -1
	for b, n := range is.counts {
		for rank < size-1 && sum >= int64(rank+1)<<x.keys/int64(size) {
			rank++
		}
		send[rank] += int(own[b])
		switch {
		case rank < is.c.Rank():
			before += n
		case rank == is.c.Rank():
			if mine += n; is.low < 0 {
				is.low = int32(b << shift)
			}
		}
		sum += n
	}
	if err := mpi.Alltoall(is.c, send, receive); err != nil {
		return 0, err
	}
	is.got = slices.Grow(is.got[:0], int(mine))[:mine]
	return before, mpi.Alltoallv(is.c, is.sorted, send, is.got, receive)
}

// ranks counts how many keys are below each value, if it is among this rank's; else -1.
func (is *integerSort) ranks(before int64, values []int32) []int64 {
	out := make([]int64, len(values))
	for i := range out {
		out[i] = -1
	}
	if len(is.got) == 0 {
		return out
	}
	top := slices.Max(is.got)
	n := int(top-is.low) + 1
	is.alike = slices.Grow(is.alike[:0], n)[:n]
	counts := is.alike
	clear(counts)
	for _, k := range is.got {
		counts[k-is.low]++
	}
	for i, v := range values {
		if v < is.low || v > top {
			continue
		}
		n := before
		for _, c := range counts[:v-is.low] {
			n += c
		}
		out[i] = n
	}
	return out
}
