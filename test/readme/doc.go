// Package readme holds prose to the truth: the programs of README.md and of the guides are compiled and run, README's
// figures are those that commands printed into docs/measurements, the commands that are named exist, with their tests
// and flags, links lead somewhere. Folder ported has whole programs that were moved by the guide for Go people.
package readme
