package main

import (
	"strings"
	"testing"
)

// TestEntry: what a method takes and gives goes by the types of a function's arguments; what is not among these is
// refused.
func TestEntry(t *testing.T) {
	split := function{name: "Comm_split", params: []string{"MPI_Comm comm", "int color", "int key", "MPI_Comm *newcomm"}}
	made, err := split.entry("commSplit", signature{[]string{"*cComm", "int", "int"}, []string{"*cComm"}, true}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"x0, err := a.comm(0)\n", "r3, err := a.commSplit(x0, a.int(1), a.int(2))\n", "return a.setComm(3, r3)\n"} {
		if !strings.Contains(made, part) {
			t.Errorf("no %q in\n%s", part, made)
		}
	}
	post := function{name: "Win_post", params: []string{"MPI_Group group", "int assert", "MPI_Win win"}}
	if made, err = post.entry("winPost", signature{[]string{"mpi.Group", "mpi.Assert", "*cWindow"}, nil, true}, ""); err != nil {
		t.Fatal(err)
	}
	if first, then := strings.Index(made, "a.window(2)"), strings.Index(made, "a.group(0)"); first < 0 || then < first {
		t.Errorf("the window, whose error handler hears of a wrong group, is not read first:\n%s", made)
	}
	create := function{name: "Win_create_keyval", params: []string{"int *win_keyval"}}
	if made, err = create.entry("objectCreateKeyval", signature{[]string{"objectKind"}, nil, true}, ""); err != nil || !strings.Contains(made, "a.objectCreateKeyval(ofWindow)") {
		t.Errorf("%v: the kind of object is not passed:\n%s", err, made)
	}
	ranks := function{name: "Group_translate_ranks", params: []string{"MPI_Group group1", "int n", "const int ranks1[]", "MPI_Group group2", "int ranks2[]"}}
	if made, err = ranks.entry("groupTranslateRanks", signature{[]string{"mpi.Group", "[]int", "mpi.Group"}, []string{"[]int"}, true}, ""); err != nil || !strings.Contains(made, "a.ints(2, a.int(1))") {
		t.Errorf("%v: a list is not as long as the number before it says:\n%s", err, made)
	}
	rget := function{name: "Rget", params: []string{"void *origin_addr", "COUNT origin_count", "MPI_Datatype origin_datatype", "int target_rank", "MPI_Aint target_disp", "COUNT target_count", "MPI_Datatype target_datatype", "MPI_Win win"}}
	if made, err = rget.entry("rget", signature{[]string{"mpi.Buffer", "target"}, nil, true}, ""); err != nil {
		t.Fatal(err)
	}
	if first, then := strings.Index(made, "a.target(3, 7)"), strings.Index(made, "a.elements(0)"); first < 0 || then < first {
		t.Errorf("the target, with its window, is not read first:\n%s", made)
	}
	for what, s := range map[string]signature{
		"an argument that is not there": {params: []string{"*cComm", "*cWindow"}},
		"arguments in another order":    {params: []string{"int", "*cComm"}},
		"a result without a place":      {params: []string{"*cComm"}, results: []string{"bool"}},
	} {
		if made, err := split.entry("commSplit", s, ""); err == nil {
			t.Errorf("%s: made\n%s", what, made)
		}
	}
}

// TestMethodOf: which method serves a function that has none of its own.
func TestMethodOf(t *testing.T) {
	methods := map[string]signature{"bcast": {params: []string{"callForm", "*cComm"}}, "objectSetName": {params: []string{"*object"}}, "getElements": {}, "ibsend": {}, "bsend": {}}
	for name, want := range map[string]string{
		"Bcast": "bcast callForm{}", "Ibcast": "bcast callForm{1, false}", "Bcast_init": "bcast callForm{1, true}", "Win_set_name": "objectSetName", "Get_elements_x": "getElements", "Ibsend": "ibsend", "Bsend_init": "", "File_set_name": "",
	} {
		f := function{name: name, params: []string{"MPI_Comm comm", "MPI_Request *request"}}
		method, _, form := f.methodOf(methods)
		if got := strings.TrimSpace(method + " " + form); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

// TestGoConstants: constants have their names and types in Go by what they are in C.
func TestGoConstants(t *testing.T) {
	made, err := goConstants("#define MPI_2INT ((MPI_Datatype)0x22b)\n#define MPI_UNWEIGHTED ((int *)10)\n#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX\nenum {\n\tMPI_ERR_RANK = 6,\n\tMPI_ANY_TAG = -2\n};\n")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(made)), " ")
	for _, part := range []string{"twoIntHandle handle = 0x22b", `twoIntHandle: "MPI_2INT"`, "mpiUnweighted = 10", "errRank errorClass = 6", "mpiAnyTag = -2 )"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, made)
		}
	}
}
