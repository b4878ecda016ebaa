// Package launcher is what the commands that start jobs have in common, over package nmad/launch: demo run and mpiexec.
package launcher
