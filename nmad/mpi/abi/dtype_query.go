//go:build cgo && linux

package main

import "sync"

func (a *call) typeSize() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	return a.setCount(1, t.t.Size())
}

// bounds writes a lower bound and an extent.
func (a *call) bounds(lower, extent int) error {
	if err := a.setAint(1, lower); err != nil {
		return err
	}
	return a.setAint(2, extent)
}

func (a *call) typeGetExtent() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	return a.bounds(t.t.Lower(), t.t.Extent())
}

func (a *call) typeGetExtentX() error { return a.typeGetExtent() }

func (a *call) typeGetTrueExtent() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	return a.bounds(t.t.True())
}

func (a *call) typeGetTrueExtentX() error { return a.typeGetTrueExtent() }

func (a *call) typeGetName() error {
	if a.handle(0) == nullType {
		return a.setText(1, 2, "MPI_DATATYPE_NULL", 128)
	}
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	t.mu.Lock()
	s := t.name
	t.mu.Unlock()
	return a.setText(1, 2, s, 128)
}

func (a *call) typeSetName() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	s, err := a.string(1)
	if err == nil {
		t.mu.Lock()
		t.name = s[:min(len(s), 127)]
		t.mu.Unlock()
	}
	return err
}

// envelope is how many numbers and datatypes tell how a datatype was made.
func (t *dtype) envelope() (ints, addresses, large, types int) {
	return len(t.made.ints), len(t.made.addresses), len(t.made.large), len(t.made.types)
}

// narrow says that a datatype was made with large counts, which only the wide form of a call can tell.
func (t *dtype) narrow() error {
	if len(t.made.large) > 0 {
		return wrong(errType, "it was made with large counts: the form of the call whose name ends in _c tells of them")
	}
	return nil
}

func (a *call) typeGetEnvelope() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	if err := t.narrow(); err != nil {
		return err
	}
	ints, addresses, _, n := t.envelope()
	for i, v := range []int{ints, addresses, n, t.made.combiner} {
		if err := a.setInt(1+i, v); err != nil {
			return err
		}
	}
	return nil
}

func (a *call) typeGetEnvelopeC() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	ints, addresses, large, n := t.envelope()
	for i, v := range []int{ints, addresses, large, n} {
		if err := a.setAint(1+i, v); err != nil {
			return err
		}
	}
	return a.setInt(5, t.made.combiner)
}

// contents writes what a datatype was made of; at are the arguments for ints, addresses, large counts and datatypes, and has is how many of each there is room for.
func (a *call) contents(t *dtype, has, at [4]int) error {
	if t.made.combiner == isNamed {
		return wrong(errType, "%s is predefined", t.name)
	}
	ints, addresses, large, n := t.envelope()
	if has[0] < ints || has[1] < addresses || has[2] < large || has[3] < n {
		return wrong(errArg, "there is room for %v ints, addresses, large counts and datatypes, there are %d, %d, %d and %d", has, ints, addresses, large, n)
	}
	if err := a.setInts(at[0], t.made.ints); err != nil {
		return err
	}
	if err := a.setAddresses(at[1], t.made.addresses); err != nil {
		return err
	}
	if large > 0 {
		if err := a.setAddresses(at[2], t.made.large); err != nil {
			return err
		}
	}
	to, err := a.handles(at[3], n)
	if err != nil {
		return err
	}
	for i, x := range t.made.types {
		// The program frees what it gets here, so it is one more of the same.
		if to[i] = x.handle; x.handle >= predefined {
			again := &dtype{t: x.t, made: x.made, committed: x.committed, name: x.name}
			again.attributes.what = ofType
			if again.handle, err = types.add(again); err != nil {
				return err
			}
			to[i] = again.handle
		}
	}
	return nil
}

func (a *call) typeGetContents() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	if err := t.narrow(); err != nil {
		return err
	}
	return a.contents(t, [4]int{a.int(1), a.int(2), 0, a.int(3)}, [4]int{4, 5, 0, 6})
}

func (a *call) typeGetContentsC() error {
	t, err := a.dtype(0)
	if err != nil {
		return err
	}
	return a.contents(t, [4]int{a.int(1), a.int(2), a.int(3), a.int(4)}, [4]int{5, 6, 7, 8})
}

// Classes of MPI_Type_match_size.
const (
	ofIntegers = 192
	ofReals    = 193
	ofComplex  = 194
)

func (a *call) typeMatchSize() error {
	all := map[[2]int]handle{
		{ofIntegers, 1}: 0x2c1, {ofIntegers, 2}: 0x2c9, {ofIntegers, 4}: 0x2d1, {ofIntegers, 8}: 0x2d9, {ofIntegers, 16}: 0x2e1,
		{ofReals, 2}: 0x2ca, {ofReals, 4}: 0x2d2, {ofReals, 8}: 0x2da, {ofReals, 16}: 0x2e2,
		{ofComplex, 4}: 0x2d3, {ofComplex, 8}: 0x2db, {ofComplex, 16}: 0x2e3, {ofComplex, 32}: 0x2eb,
	}
	h, ok := all[[2]int{a.int(0), a.int(1)}]
	if !ok {
		return wrong(errArg, "there is no datatype of class %d and %d bytes", a.int(0), a.int(1))
	}
	return a.setHandle(2, h)
}

// once are datatypes that are made once for the same arguments, and not freed.
var once struct {
	sync.Mutex
	all map[[3]int]handle
}

// onceOf makes a datatype like a predefined one, once.
func (a *call) onceOf(combiner int, args []int, to int, like handle) error {
	key := [3]int{combiner}
	copy(key[1:], args)
	once.Lock()
	defer once.Unlock()
	if h, ok := once.all[key]; ok {
		return a.setHandle(to, h)
	}
	base := predefinedTypes[like-firstType]
	x := &dtype{t: base.t, sort: base.sort, committed: true, made: contents{combiner: combiner, ints: args}}
	h, err := a.addType(to, x)
	if err == nil {
		if once.all == nil {
			once.all = map[[3]int]handle{}
		}
		once.all[key] = h
	}
	return err
}

// real is which of three floating types has a precision of p decimal digits and a range of r; undefined ones do not matter.
func (a *call) real(types [2]handle) (handle, error) {
	p, r := a.int(0), a.int(1)
	switch {
	case p == undefined && r == undefined:
		return 0, wrong(errArg, "neither precision nor range is given")
	case p <= 6 && r <= 37:
		return types[0], nil
	case p <= 15 && r <= 307:
		return types[1], nil
	}
	return 0, wrong(errArg, "no type has %d digits and a range of %d", p, r)
}

func (a *call) typeCreateF90Real() error {
	like, err := a.real([2]handle{0x2d2, 0x2da})
	if err != nil {
		return err
	}
	return a.onceOf(isF90Real, []int{a.int(0), a.int(1)}, 2, like)
}

func (a *call) typeCreateF90Complex() error {
	like, err := a.real([2]handle{0x2db, 0x2e3})
	if err != nil {
		return err
	}
	return a.onceOf(isF90Complex, []int{a.int(0), a.int(1)}, 2, like)
}

func (a *call) typeCreateF90Integer() error {
	like, r := handle(0), a.int(0)
	switch {
	case r <= 2:
		like = 0x2c1
	case r <= 4:
		like = 0x2c9
	case r <= 9:
		like = 0x2d1
	case r <= 18:
		like = 0x2d9
	default:
		return wrong(errArg, "no integer has %d digits", r)
	}
	return a.onceOf(isF90Integer, []int{r}, 1, like)
}

// pairTypes are the datatypes of a value and an index that are predefined, by the handles of both.
var pairTypes = map[[2]handle]handle{
	{0x210, 0x209}: 0x228, {0x214, 0x209}: 0x229, {0x20a, 0x209}: 0x22a, {0x209, 0x209}: 0x22b, {0x208, 0x209}: 0x22c, {0x220, 0x209}: 0x22d,
	{0x21a, 0x21a}: 0x230, {0x21c, 0x21c}: 0x231, {0x219, 0x219}: 0x232,
}

func (a *call) typeGetValueIndex() error {
	h, ok := pairTypes[[2]handle{a.handle(0), a.handle(1)}]
	if !ok {
		h = nullType
	}
	return a.setHandle(2, h)
}

func (a *call) getCount() error {
	t, err := a.dtype(1)
	if err != nil {
		return err
	}
	if a.word[0] == 0 {
		return wrong(errArg, "there is no status")
	}
	n, size := a.status(0).size(), t.t.Size()
	switch {
	case size == 0 && n > 0:
		return a.setCount(2, undefined)
	case size == 0:
		return a.setCount(2, 0)
	case n%size != 0:
		return a.setCount(2, undefined)
	}
	return a.setCount(2, n/size)
}

// elements are the basic elements of a status; a part of one is undefined.
func (a *call) elements() (int, error) {
	t, err := a.dtype(1)
	if err != nil {
		return 0, err
	}
	if a.word[0] == 0 {
		return 0, wrong(errArg, "there is no status")
	}
	n := a.status(0).size()
	if t.t.Size() == 0 {
		if n > 0 {
			return undefined, nil
		}
		return 0, nil
	}
	basics, _ := t.t.Count(n)
	if basics < 0 {
		return undefined, nil
	}
	return basics, nil
}

func (a *call) getElements() error {
	n, err := a.elements()
	if err != nil {
		return err
	}
	return a.setCount(2, n)
}

func (a *call) getElementsX() error {
	n, err := a.elements()
	if err != nil {
		return err
	}
	return a.setAint(2, n)
}

func (a *call) statusSetElements() error {
	t, err := a.dtype(1)
	if err != nil {
		return err
	}
	if a.word[0] == 0 {
		return wrong(errArg, "there is no status")
	}
	if a.int(2) < 0 {
		return wrong(errCount, "a count of %d", a.int(2))
	}
	size, count := t.t.Size(), a.int(2)
	if n := t.t.Elements(); n > 0 {
		size = count/n*size + count%n*(size/n)
	}
	a.status(0).setBytes(size)
	return nil
}

func (a *call) statusSetElementsX() error { return a.statusSetElements() }
