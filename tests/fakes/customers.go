package fakes

import (
	"context"

	"sundry/core/customer"
	"sundry/ports"
)

// Customer implements ports.CustomerReader and ports.AccessVersions. Every customer is this one, and locks are not
// held.
type Customer customer.State

// Customer implements ports.CustomerReader.
func (c Customer) Customer(context.Context, ports.Repos, string) (customer.State, error) {
	return customer.State(c), nil
}

// CustomerForShare implements ports.CustomerReader.
func (c Customer) CustomerForShare(context.Context, ports.Repos, string) (customer.State, error) {
	return customer.State(c), nil
}

// LockAccess implements ports.AccessVersions.
func (Customer) LockAccess(context.Context, ports.Repos, string, string) error { return nil }

// AccessVersion implements ports.AccessVersions.
func (Customer) AccessVersion(context.Context, ports.Repos, string, string) (int64, error) {
	return 0, nil
}
