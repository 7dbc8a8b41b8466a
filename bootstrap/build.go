package bootstrap

import (
	"cmp"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/adapters/cli"
)

// What a release is built with, by -ldflags='-X sundry/bootstrap.version=…'. Another build has none of them.
var version, commit, date string

// Build returns what this binary was built from: what a release was built with, or else what Go recorded of the
// checkout.
func Build() cli.Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(cli.Build{Version: version, Commit: commit, Date: date}, info)
}

// buildOf completes a release's own words with what Go recorded.
func buildOf(release cli.Build, info *debug.BuildInfo) cli.Build {
	recorded := map[string]string{}
	for _, s := range info.Settings {
		recorded[s.Key] = s.Value
	}
	revision := recorded["vcs.revision"]
	if revision != "" && recorded["vcs.modified"] == "true" {
		revision += "+changed"
	}
	return cli.Build{
		Version: cmp.Or(release.Version, info.Main.Version, "(devel)"),
		Commit:  cmp.Or(release.Commit, revision, "unknown"),
		Date:    cmp.Or(release.Date, recorded["vcs.time"], "unknown"),
		Go:      cmp.Or(info.GoVersion, "unknown"),
	}
}

// buildInfo is a metric that is always 1. Its labels tell the processes of two versions apart.
func buildInfo(b cli.Build) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "sundry_build_info", Help: "1, with the version, commit and date that this process was built from.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit, "date": b.Date, "goversion": b.Go},
	}, func() float64 { return 1 })
}
