// Package spelling tells how far a word that is in no table is from one that is: what it may have been meant to be.
//
//	spelling.Edits("shn", "shm")                            1
//	spelling.Nearest("shn", []string{"tcp", "shm"}, 2)      "shm"
package spelling
