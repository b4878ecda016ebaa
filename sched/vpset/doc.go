// Package vpset has sets of virtual processors, by index.
package vpset
