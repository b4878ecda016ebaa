package driver

import _ "github.com/pm2-go/pm2/internal/linux" // elsewhere a build ends there, with one line
