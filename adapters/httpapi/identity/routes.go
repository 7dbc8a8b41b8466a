// Package identity is the API of accounts: sign-up and sign-in, and secret keys.
package identity

import (
	"context"
	_ "embed"
	"slices"

	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/modules/identity"
	"sundry/ports"
)

// Document is the area's part of the OpenAPI document.
//
//go:embed openapi.yaml
var Document []byte

// Deps holds what the handlers depend on.
type Deps struct {
	Live bool
	// BaseURL is the public origin of this deployment, without a trailing slash.
	BaseURL  string
	Identity *identity.Service
	Clock    ports.Clock
	// ClientAddress returns the network by which sign-in attempts are counted.
	ClientAddress func(*fiber.Ctx) string
}

type handlers struct{ Deps }

// Routes returns the area's lines of the route table.
func Routes(d Deps) []httpapi.Route {
	h := handlers{d}
	return slices.Concat(h.signInRoutes(), h.profileRoutes(), h.keyRoutes(), h.memberRoutes(), h.auditRoutes())
}

// Authenticator lets the frame check credentials with the area's service.
type Authenticator struct{ *identity.Service }

var _ httpapi.Authenticator = Authenticator{}

// AuthenticateKey implements httpapi.Authenticator.
func (a Authenticator) AuthenticateKey(ctx context.Context, key string) (httpapi.AuthenticatedKey, error) {
	holder, err := a.Service.AuthenticateKey(ctx, key)
	return httpapi.AuthenticatedKey{
		ID: holder.KeyID, CreatorID: holder.CreatorID, Scopes: holder.Scopes, Label: holder.Label,
	}, err
}
