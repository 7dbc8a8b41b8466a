// Command validate reads a file of Docker Compose as Compose itself does: its schema, its variables and what its
// services, networks, volumes and secrets name of each other. Without a value a variable that is needed fails. It prints
// the environment of each service.
//
//	APP_SECRET=x POSTGRES_PASSWORD=x go run -C deploy/compose/validate . ../../../compose.yaml
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: validate FILE")
		os.Exit(2)
	}
	if err := validate(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "validate:", err)
		os.Exit(1)
	}
}

func validate(ctx context.Context, file string) error {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithName("sundry"), cli.WithOsEnv)
	if err != nil {
		return err
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(project.Services)) {
		for _, variable := range slices.Sorted(maps.Keys(project.Services[name].Environment)) {
			// What is nil a container has only where it is set outside.
			if value := project.Services[name].Environment[variable]; value != nil {
				fmt.Println(name, variable, *value)
			}
		}
	}
	return nil
}
