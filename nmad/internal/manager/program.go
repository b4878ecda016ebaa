package manager

import "context"

// Programs is implemented by a Manager that knows which program of its command line a process runs.
type Programs interface {
	// Program returns the number of this process's program; the first one is 0.
	Program(ctx context.Context) (int, error)
}

// Program implements Programs.
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
