// Package usage keeps meters, prices and billing plans, and takes, counts and finds reports of use.
package usage

import (
	"sundry/adapters/gormstore/repo"
	"sundry/ports"
)

// Repositories returns the area's repositories over the connection of b.
func Repositories(b *repo.Base) ports.UsageRepos {
	return ports.UsageRepos{
		Catalog: newCatalog(b), Plans: billingPlans{billingPlanMapping.On(b)}, Streams: streams{b}, Reports: reports{b},
		Rollups: rollups{b}, Alerts: alerts{alertMapping.On(b)},
		Credits: credits{creditMapping.On(b)}, Audit: audit{b},
	}
}
