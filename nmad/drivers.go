package nmad

// The networks that every program gets. Others register themselves by being imported, or come as Config.Custom;
// env.go imports shm and ofi for the names of their variables.
import (
	_ "github.com/pm2-go/pm2/nmad/driver/auto"
	_ "github.com/pm2-go/pm2/nmad/driver/tcp"
	_ "github.com/pm2-go/pm2/nmad/driver/unix"
)
