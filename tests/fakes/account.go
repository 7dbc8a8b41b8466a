package fakes

import (
	"context"

	"sundry/core/identity"
	"sundry/ports"
)

// Account implements ports.AccountReader: every account has this name, address and profile.
type Account struct {
	Name, Address string
	Profile       identity.Profile
	// Wants are the mails that the creator gets of those they can go without.
	Wants identity.Notifications
}

// Ada is the account of most tests.
var Ada = Account{Name: "Ada", Address: "ada@example.com"}

// SellerName implements ports.AccountReader.
func (a Account) SellerName(context.Context, ports.Repos, string) (string, error) { return a.Name, nil }

// Storefront implements ports.AccountReader.
func (a Account) Storefront(context.Context, ports.Repos, string) (identity.Storefront, error) {
	return identity.Storefront{Name: a.Name, Profile: a.Profile}, nil
}

// RefundPolicy implements ports.AccountReader.
func (a Account) RefundPolicy(context.Context, ports.Repos, string, string) (string, error) {
	return a.Profile.RefundPolicy, nil
}

// Notifications implements ports.AccountReader.
func (a Account) Notifications(context.Context, ports.Repos, string) (identity.Notifications, error) {
	return a.Wants, nil
}

// Account implements ports.AccountReader.
func (a Account) Account(context.Context, ports.Repos, string) (name, address string, err error) {
	return a.Name, a.Address, nil
}
