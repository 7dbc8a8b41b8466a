package cli

import (
	"context"
	"fmt"
)

// Build describes what a binary was built from. A part that is not known is "unknown".
type Build struct {
	// Version is a release's number, or what Go calls another build, such as "(devel)".
	Version string
	// Commit is the revision, with "+changed" where files differed from it.
	Commit string
	// Date is the commit's, in RFC 3339.
	Date string
	// Go is the version of Go.
	Go string
}

// String returns the line of sundry version.
func (b Build) String() string {
	return fmt.Sprintf("sundry %s (commit %s of %s, %s)", b.Version, b.Commit, b.Date, b.Go)
}

func printVersion(_ context.Context, c call) error {
	_, err := fmt.Fprintln(c.Out, c.Build)
	return err
}
