package manager

import "context"

// Programs is a Manager that says which program of its command line a process runs.
type Programs interface {
	// Program is the number of that of this process, 0 being the first.
	Program(ctx context.Context) (int, error)
}

// Program asks for it.
func (p *pmi) Program(ctx context.Context) (int, error) {
	l, err := p.ask(ctx, answerTimeout, "appnum", "cmd=get_appnum")
	if err != nil {
		return 0, err
	}
	n, err := l.number("appnum", 0, 1<<30)
	if err != nil {
		return 0, &Error{p.name, "ask which program this is", err}
	}
	return n, nil
}
