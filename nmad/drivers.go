package nmad

// The networks that every program gets, and what can be put around them. Others register themselves by being
// imported, or come as Config.Custom. (Package fault and shm: see Environment.)
import (
	_ "github.com/pm2-go/pm2/nmad/driver/auto"
	_ "github.com/pm2-go/pm2/nmad/driver/tcp"
	_ "github.com/pm2-go/pm2/nmad/driver/unix"
)
