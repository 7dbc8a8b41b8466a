package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// serve runs the program until ctx ends.
func serve(roles Roles) action {
	return func(ctx context.Context, c call) error {
		if err := printQuickStart(ctx, c, roles); err != nil {
			return err
		}
		return runRoles(ctx, c, roles)
	}
}

func work(ctx context.Context, c call) error { return runRoles(ctx, c, Roles{Work: true}) }

func runRoles(ctx context.Context, c call, roles Roles) error {
	spendMemory()
	go returnMemory(ctx)
	return c.app.Run(ctx, roles)
}

// quietTime is the time in which an idle process collects its garbage once at most.
const quietTime = time.Minute

// returnMemory gives memory back to the operating system: what the start took, which is several times what is kept, and
// after each burst of work what that has left. The runtime keeps it for minutes.
func returnMemory(ctx context.Context) {
	var before, now debug.GCStats
	for {
		if now.NumGC <= before.NumGC+1 {
			debug.FreeOSMemory()
		}
		debug.ReadGCStats(&before)
		select {
		case <-ctx.Done():
			return
		case <-time.After(quietTime):
		}
		debug.ReadGCStats(&now)
	}
}

// parseMigrate reads whether to migrate, or only to print what that would run.
func parseMigrate(args []string) (action, error) {
	switch {
	case len(args) == 0:
		return migrate, nil
	case len(args) == 1 && args[0] == "--check":
		return checkMigrations, nil
	}
	return nil, fmt.Errorf("this command takes --check or nothing, not %q", strings.Join(args, " "))
}

// migrate only opens the program, which migrates then.
func migrate(ctx context.Context, c call) error {
	app, err := c.Open(ctx)
	if err != nil {
		return err
	}
	return app.Close()
}

func checkMigrations(ctx context.Context, c call) error {
	lines, err := c.PlanMigrations(ctx)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		lines = []string{"the schema is up to date"}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(c.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// printQuickStart seeds an empty sandbox and prints how to use it, once it is known that its addresses are free: what
// it prints is shown once.
func printQuickStart(ctx context.Context, c call, roles Roles) error {
	if !c.settings.SeedsDemo {
		return nil
	}
	if err := c.app.Listen(ctx, roles); err != nil {
		return err
	}
	demo, err := c.app.Seed(ctx)
	if errors.Is(err, ErrDemoElsewhere) {
		_, err := fmt.Fprintf(c.Out, "\n  Dashboard  %[1]s/dashboard\n  Reference  %[1]s/docs\n"+
			"  The demo creator is in another cell. Sign up on the dashboard.\n\n", c.settings.BaseURL)
		return err
	}
	if err != nil {
		return err
	}
	if demo == nil {
		toClear := "empty the database"
		if c.settings.DatabaseInDataDir {
			toClear = "delete " + c.settings.DataDir
		}
		_, err := fmt.Fprintf(c.Out, "\n  Dashboard  %[1]s/dashboard\n  Reference  %[1]s/docs\n"+
			"  Start over: stop, %[2]s, start again.\n\n", c.settings.BaseURL, toClear)
		return err
	}
	return demo.Print(c.Out, c.settings.BaseURL)
}

func seed(ctx context.Context, c call) error {
	demo, err := c.app.Seed(ctx)
	if err != nil {
		return err
	}
	if demo == nil {
		return errors.New("the database already has creators; nothing was seeded")
	}
	return demo.Print(c.Out, c.settings.BaseURL)
}
