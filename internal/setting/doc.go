// Package setting reads environment variables: each kind of value in one way, whichever room asks, and with an error
// that is one line: which variable, what it says, what to give.
//
//	n, err := setting.Read("PM2_EAGER", os.Getenv("PM2_EAGER"), setting.Bytes)
package setting
