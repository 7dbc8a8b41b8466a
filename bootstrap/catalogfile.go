package bootstrap

import (
	"context"
	"errors"
	"fmt"

	"sundry/core/email"
	"sundry/core/identity"
	"sundry/modules/catalog"
	"sundry/ports"
)

// ReadCatalog reads a catalog file.
func ReadCatalog(raw []byte) (catalog.Document, error) { return catalog.ReadDocument(raw) }

// ExportCatalog is the catalog of the account with an e-mail address, or of the only account when address is empty.
func (a *App) ExportCatalog(ctx context.Context, address string) (catalog.Document, error) {
	creatorID, err := a.accountOf(ctx, address)
	if err != nil {
		return catalog.Document{}, err
	}
	return a.modules.Catalog.Export(ctx, creatorID)
}

// ImportCatalog makes the catalog of an account match the document. It shows what would change first, and writes only
// when confirm agrees.
func (a *App) ImportCatalog(ctx context.Context, address string, d catalog.Document, confirm func(changes []string) bool) error {
	creatorID, err := a.accountOf(ctx, address)
	if err != nil {
		return err
	}
	changes, err := a.modules.Catalog.PreviewImport(ctx, creatorID, d)
	if err != nil {
		return err
	}
	if !confirm(changes) || len(changes) == 0 {
		return nil
	}
	_, err = a.modules.Catalog.Import(ctx, creatorID, d)
	return err
}

// accountOf finds the account whose catalog is meant.
func (a *App) accountOf(ctx context.Context, address string) (string, error) {
	creators := a.store.Read(ctx).Identity.Creators
	var creator *identity.Creator
	var err error
	if address == "" {
		creator, err = creators.Sole(ctx)
	} else {
		normalized, _ := email.Parse(address) // what is no address finds nobody
		creator, err = creators.GetByEmail(ctx, normalized)
	}
	switch {
	case errors.Is(err, ports.ErrNotFound) && address == "":
		return "", errors.New("there is not exactly one account here: name one by its e-mail address, behind the file")
	case errors.Is(err, ports.ErrNotFound):
		return "", fmt.Errorf("no account has the e-mail address %s", address)
	case err != nil:
		return "", err
	}
	return creator.State().ID, nil
}
