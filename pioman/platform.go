package pioman

import _ "github.com/pm2-go/pm2/internal/linux" // on other systems the build ends in that package, with one line
