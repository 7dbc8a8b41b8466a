package webhooks

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"sundry/core/fault"
	"sundry/core/webhook"
	"sundry/ports"
)

var _ ports.CatalogPart[[]webhook.EndpointFile] = (*Service)(nil)

// ExportPart implements ports.CatalogPart. Of endpoints with one URL the oldest is there.
func (s *Service) ExportPart(ctx context.Context, r ports.Repos, creatorID string) ([]webhook.EndpointFile, error) {
	all, err := endpointsByURL(ctx, r, creatorID)
	if err != nil {
		return nil, err
	}
	files := []webhook.EndpointFile{}
	for _, endpoint := range all {
		files = append(files, webhook.NewEndpointFile(endpoint))
	}
	slices.SortFunc(files, func(a, b webhook.EndpointFile) int { return strings.Compare(a.URL, b.URL) })
	return files, nil
}

// endpointsByURL returns the oldest endpoint of each URL.
func endpointsByURL(ctx context.Context, r ports.Repos, creatorID string) (map[string]webhook.EndpointState, error) {
	all, err := r.Webhooks.Endpoints.ListAll(ctx, creatorID)
	if err != nil {
		return nil, err
	}
	byURL := map[string]webhook.EndpointState{}
	for _, endpoint := range all {
		if other, found := byURL[endpoint.URL]; !found || endpoint.ID < other.ID {
			byURL[endpoint.URL] = endpoint
		}
	}
	return byURL, nil
}

// ImportPart implements ports.CatalogPart. A new endpoint gets a new secret. What the file does not name is left alone.
func (s *Service) ImportPart(
	ctx context.Context, r ports.Repos, creatorID string, part []webhook.EndpointFile,
) error {
	byURL, err := endpointsByURL(ctx, r, creatorID)
	if err != nil {
		return err
	}
	var f fault.Violations
	seen := map[string]bool{}
	for i, wanted := range part {
		at := f.Item("", i)
		if !at.Check(!seen[wanted.URL], "url", fault.DetailDuplicate, "Two endpoints of the file have this URL.") {
			continue
		}
		seen[wanted.URL] = true
		if err := at.Merge(s.importEndpoint(ctx, creatorID, byURL, wanted)); err != nil {
			return err
		}
	}
	return f.Err()
}

func (s *Service) importEndpoint(
	ctx context.Context, creatorID string, byURL map[string]webhook.EndpointState, wanted webhook.EndpointFile,
) error {
	edit := wanted.Edit()
	found, there := byURL[wanted.URL]
	if !there {
		if err := s.CheckEndpoint(edit, true); err != nil {
			return err
		}
		made, _, err := s.CreateEndpoint(ctx, creatorID, edit)
		if err != nil {
			return err
		}
		found = made
	}
	edit.Stored = found.Events
	is := webhook.NewEndpointFile(found)
	if wanted.MaxInFlight == 0 {
		is.MaxInFlight = 0 // the file leaves it as it is
	}
	if reflect.DeepEqual(is, wanted) {
		return nil
	}
	if is.Enabled == wanted.Enabled {
		edit.Enabled = nil // one that the service disabled stays so until its owner enables it
	}
	_, err := s.EditEndpoint(ctx, creatorID, found.ID, edit)
	return err
}
