package lab

// twin has one measurement stand for two variants: whichever is asked first measures both, the other one, in the same
// round, gets its part of that. Without the other it is measured alone, each time.
func twin(measure func() (a, b []float64, err error)) (first, second func() ([]float64, error)) {
	var kept [2][]float64
	part := func(i int) func() ([]float64, error) {
		return func() (samples []float64, err error) {
			if kept[i] == nil {
				if kept[0], kept[1], err = measure(); err != nil {
					return nil, err
				}
			}
			samples, kept[i] = kept[i], nil
			return samples, nil
		}
	}
	return part(0), part(1)
}
