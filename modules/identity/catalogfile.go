package identity

import (
	"context"

	"sundry/core/identity"
	"sundry/ports"
)

var _ ports.CatalogPart[identity.ProfileFile] = (*Service)(nil)

// ExportPart implements ports.CatalogPart.
func (s *Service) ExportPart(ctx context.Context, r ports.Repos, creatorID string) (identity.ProfileFile, error) {
	creator, err := getCreator(ctx, r, creatorID)
	if err != nil {
		return identity.ProfileFile{}, err
	}
	return identity.NewProfileFile(creator.State()), nil
}

// ImportPart implements ports.CatalogPart.
func (s *Service) ImportPart(ctx context.Context, _ ports.Repos, creatorID string, part identity.ProfileFile) error {
	_, err := s.EditProfile(ctx, creatorID, part.Edit())
	return err
}
