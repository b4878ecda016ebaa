// Package readme holds prose to the truth: the program that README.md shows and
// every block of the migration guide are compiled and run, the commands that are
// named exist, links lead somewhere. Folder ported has whole programs that were moved
// by the guide.
package readme
