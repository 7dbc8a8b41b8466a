package bootstrap

import (
	"runtime/debug"
	"testing"

	"sundry/adapters/cli"
)

func TestBuild(t *testing.T) {
	t.Parallel()
	checkout := debug.BuildInfo{
		GoVersion: "go1.26.0", Main: debug.Module{Version: "v0.1.1-0.20261123120000-abcdef012345"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abcdef012345"}, {Key: "vcs.time", Value: "2026-11-23T12:00:00Z"},
			{Key: "vcs.modified", Value: "true"},
		},
	}
	release := cli.Build{Version: "0.1.0", Commit: "cafe", Date: "2026-11-24T00:00:00Z"}
	for name, c := range map[string]struct {
		release cli.Build
		info    debug.BuildInfo
		want    string
	}{
		"a release": {
			release, checkout, "sundry 0.1.0 (commit cafe of 2026-11-24T00:00:00Z, go1.26.0)",
		},
		"a checkout": {
			cli.Build{}, checkout, "sundry v0.1.1-0.20261123120000-abcdef012345 " +
				"(commit abcdef012345+changed of 2026-11-23T12:00:00Z, go1.26.0)",
		},
		"a folder without history": {
			cli.Build{}, debug.BuildInfo{}, "sundry (devel) (commit unknown of unknown, unknown)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := buildOf(c.release, &c.info).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
