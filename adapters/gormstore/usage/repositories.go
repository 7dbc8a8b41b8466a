// Package usage keeps meters, prices and billing plans, and takes, counts and finds reports of use.
package usage

import (
	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// Repositories are the area's repositories over one connection.
func Repositories(b repo.Base) ports.UsageRepos {
	return ports.UsageRepos{
		Catalog: catalog{b}, Plans: billingPlans{b}, Streams: streams{b}, Reports: reports{b}, Rollups: rollups{b}, Alerts: alerts{b}, Audit: audit{b},
	}
}
