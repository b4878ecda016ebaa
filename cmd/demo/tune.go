package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/pm2-go/pm2/nmad/mpi"
)

type tuneCommand struct {
	Save file `help:"File for the table, which PM2_MPI_TABLE names to later jobs."`
}

// Help implements kong's interface.
func (tuneCommand) Help() string {
	return "Examples:\n\n    demo run -n 8 -- demo tune --save table.json           measure, and write the table\n" +
		"    PM2_MPI_TABLE=table.json demo run -n 8 -- ./program    use it\n\n" +
		"A row is a size at which two algorithms of an operation were measured; the choice is the size from which on the second one is faster. " +
		"Choices between algorithms that need more ranks than the job has keep their defaults."
}

// run measures the choices of collective operations.
func (c *tuneCommand) run(ctx context.Context) error {
	world, err := mpi.Init(ctx)
	if err != nil {
		return err
	}
	x, err := mpi.Tune(world)
	if err == nil && world.Rank() == 0 {
		err = c.show(x)
	}
	if err != nil {
		world.Abort(1, err.Error())
	}
	return errors.Join(err, world.Finalize())
}

// show prints what was measured, and saves it.
func (c *tuneCommand) show(x *mpi.Tuning) error {
	fmt.Printf("%-14s %10s %14s %14s\n", "choice", "bytes", "first way, us", "second way, us")
	for _, r := range x.Rows {
		fmt.Printf("%-14s %10d %14.2f %14.2f\n", r.Choice, r.Bytes, r.Below, r.Above)
	}
	if len(x.Rows) == 0 {
		fmt.Printf("nothing to choose among %d ranks\n", x.Ranks)
	}
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	for _, r := range x.Changes() {
		fmt.Println(r)
	}
	if c.Save == "" {
		return nil
	}
	if err := os.WriteFile(string(c.Save), append(text, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Println("written to " + strconv.Quote(string(c.Save)) + ": set " + mpi.EnvTable + " to it in all processes of a job")
	return nil
}
