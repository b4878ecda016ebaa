package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// signature has the types of a method's parameters and results, as Go's sources write them.
type signature struct {
	params, results []string // without the error
	fails           bool     // the last result is an error
}

// types returns the types of a list of parameters or results, each as often as it has names.
func types(list *ast.FieldList) (all []string) {
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		all = append(all, slices.Repeat([]string{typeName(f.Type)}, max(1, len(f.Names)))...)
	}
	return all
}

func typeName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return "*" + typeName(x.X)
	case *ast.ArrayType:
		return "[]" + typeName(x.Elt)
	case *ast.SelectorExpr:
		return typeName(x.X) + "." + x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return fmt.Sprintf("%T", x)
}

// methods returns the methods of a call that the sources in a folder declare.
func methods(dir string) (map[string]signature, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	all, set := map[string]signature{}, token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_gen.go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || typeName(f.Recv.List[0].Type) != "*cCall" {
				continue
			}
			s := signature{params: types(f.Type.Params), results: types(f.Type.Results)}
			if n := len(s.results); n > 0 && s.results[n-1] == "error" {
				s.results, s.fails = s.results[:n-1], true
			}
			all[f.Name.Name] = s
		}
	}
	return all, nil
}

// reader says how the entry of a function reads an argument for a parameter of its method.
type reader struct {
	goType string // of the parameter
	cType  string // of the argument; "number", "handle", "pointer", "buffer", "target" and "status" stand for several types, see is
	read   string // expression in Go; %d is the number of the argument, %n the number of elements of a list, %w the number of the window's argument
	fails  bool   // the expression has an error as second result
	takes  int    // arguments that it reads
}

var readers = []reader{
	{"*cComm", "MPI_Comm", "a.comm(%d)", true, 1},
	{"*intraComm", "MPI_Comm", "a.intra(%d)", true, 1},
	{"*interComm", "MPI_Comm", "a.inter(%d)", true, 1},
	{"*gridComm", "MPI_Comm", "a.grid(%d)", true, 1},
	{"*graphComm", "MPI_Comm", "a.topology(%d, mpiGraph)", true, 1},
	{"*distGraphComm", "MPI_Comm", "a.topology(%d, mpiDistGraph)", true, 1},
	{"*cWindow", "MPI_Win", "a.window(%d)", true, 1},
	{"*cSession", "MPI_Session", "a.session(%d)", true, 1},
	{"*object", "MPI_Comm", "objectOf(a.comm(%d))", true, 1},
	{"*object", "MPI_Win", "objectOf(a.window(%d))", true, 1},
	{"*object", "MPI_Session", "objectOf(a.session(%d))", true, 1},
	{"*object", "MPI_Datatype", "objectOf(a.dtype(%d))", true, 1},
	{"*cType", "MPI_Datatype", "a.dtype(%d)", true, 1},
	{"*committed", "MPI_Datatype", "a.committed(%d)", true, 1},
	{"mpi.Group", "MPI_Group", "a.group(%d)", true, 1},
	{"*cInfo", "MPI_Info", "a.info(%d)", true, 1},
	{"*hints", "MPI_Info", "a.hints(%d)", true, 1},
	{"*changeable", "MPI_Info", "a.changeable(%d)", true, 1},
	{"*cOp", "MPI_Op", "a.op(%d)", true, 1},
	{"*partitioned", "MPI_Request", "a.partitioned(%d)", true, 1},
	{"*control", "MPI_T_cvar_handle", "controlHandles.get(a.handle(%d))", true, 1},
	{"*pvarSession", "MPI_T_pvar_session", "pvarSessions.get(a.handle(%d))", true, 1},
	{"string", "const char *", "a.string(%d)", true, 1},
	{"infoKey", "const char *", "a.key(%d)", true, 1},
	{"elementCount", "number", "a.count(%d)", true, 1},
	{"[]int", "int []", "a.ints(%d, %n)", true, 1},
	{"[]int", "COUNT []", "a.counts(%d, %n)", true, 1},
	{"[]int", "ADDR []", "a.addresses(%d, %n)", true, 1},
	{"blockSizes", "COUNT []", "a.blockSizes(%d, %n)", true, 1},
	{"edgeWeights", "const int *", "a.weights(%d, %n)", true, 1},
	{"[]*cType", "MPI_Datatype []", "a.dtypes(%d, %n)", true, 1},
	{"*handle", "pointer", "a.handleAt(%d)", true, 1},
	{"*int32", "int *", "a.intAt(%d)", true, 1},
	{"outgoing", "buffer", "a.message(%d, false)", true, 6},
	{"incoming", "buffer", "a.message(%d, true)", true, 6},
	{"target", "target", "a.target(%d, %w)", true, 4},
	{"mpi.Buffer", "buffer", "a.elements(%d)", true, 3},
	{"mpi.Assert", "number", "a.asserts(%d)", true, 1},
	{"int", "number", "a.int(%d)", false, 1},
	{"bool", "number", "a.int(%d) != 0", false, 1},
	{"handle", "handle", "a.handle(%d)", false, 1},
	{"*cStatus", "status", "a.status(%d)", false, 1},
}

// writers are the methods that write a result, by its type in Go and that of the argument in C.
var writers = map[[2]string]string{
	{"int", "int *"}:                     "setInt",
	{"int", "COUNT *"}:                   "setCount",
	{"int", "DISP *"}:                    "setWide",
	{"int", "ADDR *"}:                    "setAint",
	{"int", "MPI_Aint *"}:                "setAint",
	{"int", "MPI_Count *"}:               "setAint",
	{"bool", "int *"}:                    "setFlag",
	{"[]int", "int []"}:                  "setInts",
	{"name", "char *"}:                   "setName",
	{"uintptr", "void *"}:                "setPtr",
	{"*cComm", "MPI_Comm *"}:             "setComm",
	{"mpi.Group", "MPI_Group *"}:         "setGroup",
	{"*cInfo", "MPI_Info *"}:             "setInfo",
	{"*cErrhandler", "MPI_Errhandler *"}: "setHandler",
	{"*cRequest", "MPI_Request *"}:       "setRequest",
	{"*cType", "MPI_Datatype *"}:         "setType",
}

// cType returns the type of a parameter.
func cType(p string) string {
	head, _, array := strings.Cut(p, "[")
	head = strings.TrimSpace(head[:strings.LastIndexAny(head, " *")+1])
	if array {
		head += " []"
	}
	return head
}

// is reports whether r can read the first of the parameters.
func (r *reader) is(params []string) bool {
	t := cType(params[0])
	_, number := argument(params[0])
	switch r.cType {
	case "number":
		return number
	case "handle":
		return !number && !strings.HasSuffix(t, "*") && !strings.HasSuffix(t, "[]")
	case "pointer":
		return strings.HasPrefix(t, "MPI_") && strings.HasSuffix(t, "*")
	case "buffer":
		return strings.HasSuffix(t, "void *") && len(params) > 2 && cType(params[1]) == "COUNT" && cType(params[2]) == "MPI_Datatype"
	case "target":
		return len(params) > 3 && strings.HasSuffix(params[0], " target_rank") && cType(params[2]) == "COUNT"
	case "status":
		return strings.HasSuffix(t, "MPI_Status *")
	}
	return t == r.cType || strings.HasSuffix(t, "[]") && strings.TrimPrefix(t, "const ") == r.cType
}

// expression returns how r reads the argument at a place of f. A list has as many elements as the number before it
// says.
func (r *reader) expression(f *function, place int) string {
	count := place - 1
	for ; count > 0; count-- {
		if _, number := argument(f.params[count]); number {
			break
		}
	}
	window := slices.IndexFunc(f.params, func(p string) bool { return cType(p) == "MPI_Win" })
	return strings.NewReplacer("%d", strconv.Itoa(place), "%n", fmt.Sprintf("a.int(%d)", count), "%w", strconv.Itoa(window)).Replace(r.read)
}

// first reports whether an entry reads this argument before the others: its object's error handler hears of errors in
// these.
func (r *reader) first() bool {
	return r.takes == 1 && (r.cType == "MPI_Comm" || r.cType == "MPI_Win" || r.cType == "MPI_Session") || r.cType == "target"
}

// entry returns the source of the function in Go that calls the method name for f: it reads the method's parameters and
// writes its results. A parameter is the next argument of its type, or the kind of object that f is for; the results go
// to the last arguments that point to their types. form is the form of a collective operation, which the method gets
// first; empty: none.
func (f *function) entry(name string, s signature, form string) (string, error) {
	params := s.params
	if form != "" {
		params = params[1:]
	}
	if len(params) == 0 && len(s.results) == 0 && form == "" && s.fails {
		return "(*cCall)." + name, nil
	}
	var first, then, args []string
	if form != "" {
		args = append(args, form)
	}
	at := 0
	for _, goType := range params {
		if goType == "objectKind" {
			args = append(args, f.objectKind())
			continue
		}
		found := -1
		for ; at < len(f.params) && found < 0; at++ {
			found = slices.IndexFunc(readers, func(r reader) bool { return r.goType == goType && r.is(f.params[at:]) })
		}
		if found < 0 {
			return "", fmt.Errorf("%s has no argument for what (*cCall).%s takes as %s", f.name, name, goType)
		}
		r, place := &readers[found], at-1
		at += r.takes - 1
		read := r.expression(f, place)
		if !r.fails {
			args = append(args, read)
			continue
		}
		x := fmt.Sprintf("x%d", place)
		args = append(args, x)
		line := fmt.Sprintf("%s, err := %s\nif err != nil {\nreturn err\n}\n", x, read)
		if r.first() {
			first = append(first, line)
		} else {
			then = append(then, line)
		}
	}
	b := "func(a *cCall) error {\n" + strings.Join(first, "") + strings.Join(then, "")
	called := fmt.Sprintf("a.%s(%s)", name, strings.Join(args, ", "))
	results, writes := make([]string, len(s.results)), ""
	at = len(f.params)
	for i, goType := range slices.Backward(s.results) {
		writer := ""
		for ; at > 0 && writer == ""; at-- {
			t := cType(f.params[at-1])
			if writer = writers[[2]string{goType, t}]; goType == "handle" && strings.HasPrefix(t, "MPI_") && strings.HasSuffix(t, "*") {
				writer = "setHandle"
			}
		}
		if writer == "" {
			return "", fmt.Errorf("%s has no place for what (*cCall).%s gives as %s", f.name, name, goType)
		}
		results[i] = fmt.Sprintf("r%d", at)
		write := fmt.Sprintf("a.%s(%d, %s)", writer, at, results[i])
		if writes == "" {
			writes = "return " + write + "\n}"
		} else {
			writes = "if err := " + write + "; err != nil {\nreturn err\n}\n" + writes
		}
	}
	switch {
	case len(results) == 0 && s.fails:
		return b + "return " + called + "\n}", nil
	case len(results) == 0:
		return b + called + "\nreturn nil\n}", nil
	case s.fails:
		b += strings.Join(results, ", ") + ", err := " + called + "\nif err != nil {\nreturn err\n}\n"
	default:
		b += strings.Join(results, ", ") + " := " + called + "\n"
	}
	return b + writes, nil
}

// objects are the first words of functions that may have one method for all kinds of objects, and the kinds in Go.
var objects = []struct{ prefix, kind string }{{"Comm_", "ofComm"}, {"Type_", "ofType"}, {"Win_", "ofWindow"}, {"Session_", "ofSession"}}

// objectKind returns the kind of the objects for which f is; empty: it is for none.
func (f *function) objectKind() string {
	for _, o := range objects {
		if strings.HasPrefix(f.name, o.prefix) {
			return o.kind
		}
	}
	return ""
}

// methodOf returns the method that serves f: that of its own name; for a form of a collective operation that of the
// blocking one, with the form to pass; for a function of a communicator, datatype, window or session that of all
// objects; for a name that ends in _x that of the name without. An empty name: none does.
func (f *function) methodOf(methods map[string]signature) (name string, s signature, form string) {
	takesForm := func(s signature) bool { return len(s.params) > 0 && s.params[0] == "callForm" }
	if s, ok := methods[method(f.name)]; ok {
		if takesForm(s) {
			form = "callForm{}"
		}
		return method(f.name), s, form
	}
	request := slices.IndexFunc(f.params, func(p string) bool { return cType(p) == "MPI_Request *" })
	if base, ok := strings.CutSuffix(f.name, "_init"); ok {
		if s, ok := methods[method(base)]; ok && takesForm(s) {
			return method(base), s, fmt.Sprintf("callForm{%d, true}", request)
		}
	}
	if base, ok := strings.CutPrefix(f.name, "I"); ok {
		if s, ok := methods[method(base)]; ok && takesForm(s) {
			return method(base), s, fmt.Sprintf("callForm{%d, false}", request)
		}
	}
	for _, o := range objects {
		if rest, ok := strings.CutPrefix(f.name, o.prefix); ok {
			name = method("object_" + rest)
			if s, ok := methods[name]; ok {
				return name, s, ""
			}
		}
	}
	if base, ok := strings.CutSuffix(f.name, "_x"); ok {
		if s, ok := methods[method(base)]; ok {
			return method(base), s, ""
		}
	}
	return "", signature{}, ""
}

// goTable returns Go's table of the functions.
func goTable(all []function, methods map[string]signature) ([]byte, error) {
	b := bytes.NewBufferString(headOfGo + "// entries are the functions of table.txt, in their order there.\nvar entries = [...]entry{\n")
	for i := range all {
		f := &all[i]
		if f.kind == "here" {
			fmt.Fprintf(b, "%d: {name: \"MPI_%s\"},\n", i, f.name)
			continue
		}
		do := "(*cCall).unsupported"
		if name, s, form := f.methodOf(methods); name != "" {
			var err error
			if do, err = f.entry(name, s, form); err != nil {
				return nil, err
			}
		}
		if strings.HasPrefix(f.name, "T_") && f.name != "T_init_thread" && f.name != "T_finalize" {
			do = "withTools(" + do + ")"
		}
		fmt.Fprintf(b, "%d: {\"MPI_%s\", %s},\n", i, f.name, do)
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}
