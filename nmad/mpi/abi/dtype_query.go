//go:build cgo && linux

package main

import "sync"

func (a *cCall) typeSize(t *cType) int { return t.typ.Size() }

func (a *cCall) typeGetExtent(t *cType) (lower, extent int) { return t.typ.Lower(), t.typ.Extent() }

func (a *cCall) typeGetTrueExtent(t *cType) (lower, extent int) { return t.typ.True() }

// checkNarrow refuses a datatype that was made with large counts: only the wide form of a call can return them.
func (t *cType) checkNarrow() error {
	if len(t.contents.large) > 0 {
		return errorf(errType, "it was made with large counts: the form of the call whose name ends in _c tells of them")
	}
	return nil
}

func (a *cCall) typeGetEnvelope(t *cType) (ints, addresses, types, combiner int, err error) {
	return len(t.contents.ints), len(t.contents.addresses), len(t.contents.types), t.contents.combiner, t.checkNarrow()
}

func (a *cCall) typeGetEnvelopeC(t *cType) (ints, addresses, large, types, combiner int) {
	return len(t.contents.ints), len(t.contents.addresses), len(t.contents.large), len(t.contents.types), t.contents.combiner
}

// setContents writes the contents of t to the arguments at, of which has says the sizes: ints, addresses, large
// counts and datatypes.
func (a *cCall) setContents(t *cType, has, at [4]int) error {
	if t.contents.combiner == mpiCombinerNamed {
		return errorf(errType, "%s is predefined", t.name)
	}
	ints, addresses, large, n, _ := a.typeGetEnvelopeC(t)
	if has[0] < ints || has[1] < addresses || has[2] < large || has[3] < n {
		return errorf(errArg, "there is room for %v ints, addresses, large counts and datatypes, there are %d, %d, %d and %d", has, ints, addresses, large, n)
	}
	if err := a.setInts(at[0], t.contents.ints); err != nil {
		return err
	}
	if err := a.setAddresses(at[1], t.contents.addresses); err != nil {
		return err
	}
	if large > 0 {
		if err := a.setAddresses(at[2], t.contents.large); err != nil {
			return err
		}
	}
	to, err := a.handles(at[3], n)
	if err != nil {
		return err
	}
	for i, x := range t.contents.types {
		// The program frees the handles that it gets here, so each is of a new object.
		if to[i] = x.handle; x.handle >= predefined {
			duplicate := &cType{object: object{kind: ofType, name: x.name}, typ: x.typ, contents: x.contents, committed: x.committed}
			if duplicate.handle, err = types.add(duplicate); err != nil {
				return err
			}
			to[i] = duplicate.handle
		}
	}
	return nil
}

func (a *cCall) typeGetContents(t *cType, ints, addresses, types int) error {
	if err := t.checkNarrow(); err != nil {
		return err
	}
	return a.setContents(t, [4]int{ints, addresses, 0, types}, [4]int{4, 5, 0, 6})
}

func (a *cCall) typeGetContentsC(t *cType, ints, addresses, large, types int) error {
	return a.setContents(t, [4]int{ints, addresses, large, types}, [4]int{5, 6, 7, 8})
}

func (a *cCall) typeMatchSize(class, size int) (handle, error) {
	all := map[[2]int]handle{
		{mpiTypeclassInteger, 1}: integer1Handle, {mpiTypeclassInteger, 2}: integer2Handle, {mpiTypeclassInteger, 4}: integer4Handle, {mpiTypeclassInteger, 8}: integer8Handle, {mpiTypeclassInteger, 16}: integer16Handle,
		{mpiTypeclassReal, 2}: real2Handle, {mpiTypeclassReal, 4}: real4Handle, {mpiTypeclassReal, 8}: real8Handle, {mpiTypeclassReal, 16}: real16Handle,
		{mpiTypeclassComplex, 4}: complex4Handle, {mpiTypeclassComplex, 8}: complex8Handle, {mpiTypeclassComplex, 16}: complex16Handle, {mpiTypeclassComplex, 32}: complex32Handle,
	}
	h, ok := all[[2]int{class, size}]
	if !ok {
		return 0, errorf(errArg, "there is no datatype of class %d and %d bytes", class, size)
	}
	return h, nil
}

// f90Types are the datatypes of MPI_Type_create_f90_real and its like: one for the same arguments, which is never
// freed.
var f90Types struct {
	sync.Mutex
	byArguments map[[3]int]*cType
}

// f90Type returns the datatype, like the predefined one with handle like, for these arguments.
func f90Type(combiner int, like handle, args ...int) (*cType, error) {
	key := [3]int{combiner}
	copy(key[1:], args)
	f90Types.Lock()
	defer f90Types.Unlock()
	if f90Types.byArguments == nil {
		f90Types.byArguments = map[[3]int]*cType{}
	}
	if t := f90Types.byArguments[key]; t != nil {
		return t, nil
	}
	base := predefinedTypes[like-firstType]
	t := &cType{typ: base.typ, class: base.class, committed: true, contents: contents{combiner: combiner, ints: args}}
	if err := t.enlist(); err != nil {
		return nil, err
	}
	f90Types.byArguments[key] = t
	return t, nil
}

// f90Float returns that of two floating types which has a precision of p decimal digits and a decimal exponent
// range of r.
func f90Float(p, r int, types [2]handle) (handle, error) {
	switch {
	case p == mpiUndefined && r == mpiUndefined:
		return 0, errorf(errArg, "neither precision nor range is given")
	case p <= 6 && r <= 37:
		return types[0], nil
	case p <= 15 && r <= 307:
		return types[1], nil
	}
	return 0, errorf(errArg, "no type has %d digits and a range of %d", p, r)
}

func (a *cCall) typeCreateF90Real(p, r int) (*cType, error) {
	like, err := f90Float(p, r, [2]handle{real4Handle, real8Handle})
	if err != nil {
		return nil, err
	}
	return f90Type(mpiCombinerF90Real, like, p, r)
}

func (a *cCall) typeCreateF90Complex(p, r int) (*cType, error) {
	like, err := f90Float(p, r, [2]handle{complex8Handle, complex16Handle})
	if err != nil {
		return nil, err
	}
	return f90Type(mpiCombinerF90Complex, like, p, r)
}

func (a *cCall) typeCreateF90Integer(r int) (*cType, error) {
	like := handle(0)
	switch {
	case r <= 2:
		like = integer1Handle
	case r <= 4:
		like = integer2Handle
	case r <= 9:
		like = integer4Handle
	case r <= 18:
		like = integer8Handle
	default:
		return nil, errorf(errArg, "no integer has %d digits", r)
	}
	return f90Type(mpiCombinerF90Integer, like, r)
}

func (a *cCall) typeGetValueIndex(value, index handle) handle {
	if h, ok := pairTypes[[2]handle{value, index}]; ok {
		return h
	}
	return datatypeNullHandle
}

// check refuses NULL.
func (st *cStatus) check() error {
	if st == nil {
		return errorf(errArg, "there is no status")
	}
	return nil
}

func (a *cCall) getCount(s *cStatus, t *cType) (int, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	n, size := s.size(), t.typ.Size()
	switch {
	case size == 0 && n == 0:
		return 0, nil
	case size == 0 || n%size != 0:
		return mpiUndefined, nil
	}
	return n / size, nil
}

// getElements returns the number of basic elements in a message; MPI_UNDEFINED if the last one is not complete.
func (a *cCall) getElements(s *cStatus, t *cType) (int, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	n := s.size()
	if t.typ.Size() == 0 && n == 0 {
		return 0, nil
	}
	if basics, _ := t.typ.Count(n); t.typ.Size() > 0 && basics >= 0 {
		return basics, nil
	}
	return mpiUndefined, nil
}

func (a *cCall) statusSetElements(s *cStatus, t *cType, n elementCount) error {
	if err := s.check(); err != nil {
		return err
	}
	size := t.typ.Size()
	if all := t.typ.Elements(); all > 0 {
		size = n/all*size + n%all*(size/all)
	}
	s.setBytes(size)
	return nil
}
