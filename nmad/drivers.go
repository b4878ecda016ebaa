package nmad

// The networks that every program gets, and what can be put around them. Others register themselves by being
// imported, or come as Config.Custom. env.go imports two more:
// shm for the names of its variables, and fault because PM2_DRIVER=fault:tcp makes any program, unchanged, meet
// faults in a test. Package fault registers a wrapper and does nothing else before a program asks for it.
import (
	_ "github.com/pm2-go/pm2/nmad/driver/auto"
	_ "github.com/pm2-go/pm2/nmad/driver/tcp"
	_ "github.com/pm2-go/pm2/nmad/driver/unix"
)
