package cli

import (
	"context"
	"fmt"
	"runtime/debug"
)

func printVersion(_ context.Context, c call) error {
	_, err := fmt.Fprintln(c.Out, version())
	return err
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "sundry (unknown build)"
	}
	revision := "unknown revision"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return "sundry " + info.Main.Version + " (" + revision + ", " + info.GoVersion + ")"
}
