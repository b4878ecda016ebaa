// Package stat has the few statistics that the laboratory prints.
package stat
