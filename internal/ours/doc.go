// Package ours tells the packages of this module from others.
package ours
