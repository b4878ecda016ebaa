package uts

// Team is what a recursive count is written over: S is what a task of it keeps, for the tasks that it starts and for
// the one that started it.
type Team[S any] interface {
	*S
	Start(parent *S, t Task) // runs t, whose this is
	Ended(parent *S)         // the last call of a task that was started
	Join(parent *S)          // returns when this one's task, or all that parent has started, has ended
}

// Recursion counts a tree as one writes it down: the size of a node is one, and the sizes of its children. A task for
// each child that has children, the other children in place; then the task waits for those it has started, and adds up
// what they found.
type Recursion[S any, T Team[S]] struct {
	Node
	children int32
	tree     *Tree
	Size     int64 // of the subtree, when the task has ended
	Tasks    S
	parent   *Recursion[S, T]
	older    *Recursion[S, T] // the sibling that was started before
}

// NewRecursion returns the task of t's root, to be run by the caller.
func NewRecursion[S any, T Team[S]](t *Tree) *Recursion[S, T] {
	root := t.Root()
	return &Recursion[S, T]{Node: root, children: int32(t.Children(&root)), tree: t}
}

// Run implements Task.
func (r *Recursion[S, T]) Run() {
	size := int64(1)
	var youngest *Recursion[S, T]
	for i := range int(r.children) {
		child := r.Child(i)
		n := r.tree.Children(&child)
		if n == 0 {
			size++
			continue
		}
		youngest = &Recursion[S, T]{Node: child, children: int32(n), tree: r.tree, parent: r, older: youngest}
		T(&youngest.Tasks).Start(&r.Tasks, youngest)
	}
	for c := youngest; c != nil; c = c.older { // the youngest is the one that has not begun
		T(&c.Tasks).Join(&r.Tasks)
		size += c.Size
	}
	r.Size = size
	if r.parent != nil {
		T(&r.Tasks).Ended(&r.parent.Tasks)
	}
}
