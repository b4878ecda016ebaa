package main

import (
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pm2-go/pm2/pioman"
)

// progressFlags are the flags of the progress engine, one for each row of its table of parameters, from which they are
// made.
type progressFlags struct {
	kong.Plugins
}

// value is what such a flag takes; the table checks it.
type value string

// helpEngine is --help with the flags of the progress engine, which are many.
const helpEngine = "--help-engine"

// engineFlags tells about it, in the help of the commands that have such flags.
const engineFlags = "The progress engine has a flag for each of its parameters: " + helpEngine + ". "

// newProgressFlags makes the flags before the command line is parsed, but for the rows that a command says
// in another way. The help lists them if shown.
func newProgressFlags(shown bool, without ...string) progressFlags {
	hidden := " hidden:\"\""
	if shown {
		hidden = ""
	}
	var fields []reflect.StructField
	for _, row := range pioman.ParamTable() {
		if slices.Contains(without, row.Name) {
			continue
		}
		help := row.Meaning + ": " + row.Values + ". Default: " + row.Default + ", or what " + row.Env + " says."
		fields = append(fields, reflect.StructField{
			Name: fieldName(row.Name),
			Type: reflect.TypeFor[*value](),
			Tag:  reflect.StructTag("name:" + strconv.Quote(row.Name) + " group:\"Progress engine\" help:" + strconv.Quote(help) + hidden),
		})
	}
	return progressFlags{kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}}
}

// fieldName makes BusyWait of busy-wait.
func fieldName(flag string) string {
	var name strings.Builder
	for part := range strings.SplitSeq(flag, "-") {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

// each calls do for every flag that was given.
func (pf *progressFlags) each(do func(row pioman.Param, text string) error) error {
	given := reflect.ValueOf(pf.Plugins[0]).Elem()
	for _, row := range pioman.ParamTable() {
		if v := given.FieldByName(fieldName(row.Name)); v.IsValid() && !v.IsNil() {
			if err := do(row, v.Elem().String()); err != nil {
				return err
			}
		}
	}
	return nil
}

// params are the parameters that environment and flags make together.
func (pf *progressFlags) params() (pioman.Params, error) {
	p, err := pioman.ParamsFromEnvironment()
	if err != nil {
		return p, err
	}
	return p, pf.each(func(row pioman.Param, text string) error { return p.Set(row.Name, text, pioman.FromFlag) })
}

// export hands the flags to all engines of this process and of those that it starts, by their variables.
func (pf *progressFlags) export() error {
	if _, err := pf.params(); err != nil {
		return err
	}
	return pf.each(func(row pioman.Param, text string) error { return os.Setenv(row.Env, text) })
}
