//go:build cgo && linux

package main

import "sync"

func (a *cCall) typeSize(t *cType) int { return t.t.Size() }

func (a *cCall) typeGetExtent(t *cType) (lower, extent int) { return t.t.Lower(), t.t.Extent() }

func (a *cCall) typeGetTrueExtent(t *cType) (lower, extent int) { return t.t.True() }

// narrow says that a datatype was made with large counts, which only the wide form of a call can tell.
func (t *cType) narrow() error {
	if len(t.made.large) > 0 {
		return wrong(errType, "it was made with large counts: the form of the call whose name ends in _c tells of them")
	}
	return nil
}

func (a *cCall) typeGetEnvelope(t *cType) (ints, addresses, types, combiner int, err error) {
	return len(t.made.ints), len(t.made.addresses), len(t.made.types), t.made.combiner, t.narrow()
}

func (a *cCall) typeGetEnvelopeC(t *cType) (ints, addresses, large, types, combiner int) {
	return len(t.made.ints), len(t.made.addresses), len(t.made.large), len(t.made.types), t.made.combiner
}

// contents writes what a datatype was made of; at are the arguments for ints, addresses, large counts and datatypes,
// and has is how many of each there is room for.
func (a *cCall) contents(t *cType, has, at [4]int) error {
	if t.made.combiner == isNamed {
		return wrong(errType, "%s is predefined", t.name)
	}
	ints, addresses, large, n, _ := a.typeGetEnvelopeC(t)
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
			again := &cType{object: object{what: ofType, name: x.name}, t: x.t, made: x.made, committed: x.committed}
			if again.handle, err = types.add(again); err != nil {
				return err
			}
			to[i] = again.handle
		}
	}
	return nil
}

func (a *cCall) typeGetContents(t *cType, ints, addresses, types int) error {
	if err := t.narrow(); err != nil {
		return err
	}
	return a.contents(t, [4]int{ints, addresses, 0, types}, [4]int{4, 5, 0, 6})
}

func (a *cCall) typeGetContentsC(t *cType, ints, addresses, large, types int) error {
	return a.contents(t, [4]int{ints, addresses, large, types}, [4]int{5, 6, 7, 8})
}

// Classes of MPI_Type_match_size.
const (
	ofIntegers = 192
	ofReals    = 193
	ofComplex  = 194
)

func (a *cCall) typeMatchSize(class, size int) (handle, error) {
	all := map[[2]int]handle{
		{ofIntegers, 1}: 0x2c1, {ofIntegers, 2}: 0x2c9, {ofIntegers, 4}: 0x2d1, {ofIntegers, 8}: 0x2d9, {ofIntegers, 16}: 0x2e1,
		{ofReals, 2}: 0x2ca, {ofReals, 4}: 0x2d2, {ofReals, 8}: 0x2da, {ofReals, 16}: 0x2e2,
		{ofComplex, 4}: 0x2d3, {ofComplex, 8}: 0x2db, {ofComplex, 16}: 0x2e3, {ofComplex, 32}: 0x2eb,
	}
	h, ok := all[[2]int{class, size}]
	if !ok {
		return 0, wrong(errArg, "there is no datatype of class %d and %d bytes", class, size)
	}
	return h, nil
}

// once are datatypes that are made once for the same arguments, and not freed.
var once struct {
	sync.Mutex
	all map[[3]int]*cType
}

// onceOf makes a datatype like a predefined one, once: with its handle, which all threads get.
func onceOf(combiner int, like handle, args ...int) (*cType, error) {
	key := [3]int{combiner}
	copy(key[1:], args)
	once.Lock()
	defer once.Unlock()
	if once.all == nil {
		once.all = map[[3]int]*cType{}
	}
	if t := once.all[key]; t != nil {
		return t, nil
	}
	base := predefinedTypes[like-firstType]
	t := &cType{t: base.t, sort: base.sort, committed: true, made: contents{combiner: combiner, ints: args}}
	if err := t.enlist(); err != nil {
		return nil, err
	}
	once.all[key] = t
	return t, nil
}

// real is which of two floating types has a precision of p decimal digits and a range of r; undefined ones do not matter.
func real(p, r int, types [2]handle) (handle, error) {
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

func (a *cCall) typeCreateF90Real(p, r int) (*cType, error) {
	like, err := real(p, r, [2]handle{0x2d2, 0x2da})
	if err != nil {
		return nil, err
	}
	return onceOf(isF90Real, like, p, r)
}

func (a *cCall) typeCreateF90Complex(p, r int) (*cType, error) {
	like, err := real(p, r, [2]handle{0x2db, 0x2e3})
	if err != nil {
		return nil, err
	}
	return onceOf(isF90Complex, like, p, r)
}

func (a *cCall) typeCreateF90Integer(r int) (*cType, error) {
	like := handle(0)
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
		return nil, wrong(errArg, "no integer has %d digits", r)
	}
	return onceOf(isF90Integer, like, r)
}

// pairTypes are the datatypes of a value and an index that are predefined, by the handles of both.
var pairTypes = map[[2]handle]handle{
	{0x210, 0x209}: 0x228, {0x214, 0x209}: 0x229, {0x20a, 0x209}: 0x22a, {0x209, 0x209}: 0x22b, {0x208, 0x209}: 0x22c, {0x220, 0x209}: 0x22d,
	{0x21a, 0x21a}: 0x230, {0x21c, 0x21c}: 0x231, {0x219, 0x219}: 0x232,
}

func (a *cCall) typeGetValueIndex(value, index handle) handle {
	if h, ok := pairTypes[[2]handle{value, index}]; ok {
		return h
	}
	return nullType
}

// there says why an argument is the address of no status.
func (st *cStatus) there() error {
	if st == nil {
		return wrong(errArg, "there is no status")
	}
	return nil
}

func (a *cCall) getCount(s *cStatus, t *cType) (int, error) {
	if err := s.there(); err != nil {
		return 0, err
	}
	n, size := s.size(), t.t.Size()
	switch {
	case size == 0 && n == 0:
		return 0, nil
	case size == 0 || n%size != 0:
		return undefined, nil
	}
	return n / size, nil
}

// getElements are the basic elements of a status; a part of one is undefined.
func (a *cCall) getElements(s *cStatus, t *cType) (int, error) {
	if err := s.there(); err != nil {
		return 0, err
	}
	n := s.size()
	if t.t.Size() == 0 && n == 0 {
		return 0, nil
	}
	if basics, _ := t.t.Count(n); t.t.Size() > 0 && basics >= 0 {
		return basics, nil
	}
	return undefined, nil
}

func (a *cCall) statusSetElements(s *cStatus, t *cType, n elementCount) error {
	if err := s.there(); err != nil {
		return err
	}
	size := t.t.Size()
	if all := t.t.Elements(); all > 0 {
		size = n/all*size + n%all*(size/all)
	}
	s.setBytes(size)
	return nil
}
