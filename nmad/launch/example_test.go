package launch_test

import (
	"context"
	"fmt"

	"github.com/pm2-go/pm2/nmad"
	"github.com/pm2-go/pm2/nmad/launch"
)

func Example() {
	job, err := launch.Start(launch.Spec{N: 4, First: 1, Args: []string{"-quiet"}}) // this program three times more
	if err != nil {
		panic(err)
	}
	session, err := nmad.Open(context.Background(), job.Config()) // we are rank 0; the others call nmad.Join
	if err == nil {
		err = session.Close()
	}
	fmt.Println(err, job.Wait()) // names the rank that failed, and how
}
