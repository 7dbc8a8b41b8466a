package mail

import (
	"context"
	"slices"
	"strings"

	"sundry/core/dispute"
	"sundry/core/payment"
	"sundry/ports"
)

var _ ports.EvidenceSource = (*Service)(nil)

// toOthers begin the kinds of mails that are not for buyers, even where the address is theirs.
var toOthers = []string{"creator.", "guest.", "identity.", "webhook_endpoint."}

// AddEvidence implements ports.EvidenceSource: the mails to the buyer.
func (s *Service) AddEvidence(ctx context.Context, r ports.Repos, paid payment.State, into *dispute.Collected) error {
	if into.Buyer.Email == nil {
		return nil
	}
	all, err := r.Mail.Mails.ListTo(ctx, paid.CreatorID, *into.Buyer.Email, dispute.MaxCollected)
	for _, m := range all {
		if isToOthers(m.Kind) {
			continue
		}
		into.Mails = append(into.Mails, dispute.Mail{
			Kind: m.Kind, CreatedAt: dispute.Moment{Time: m.CreatedAt}, SentAt: dispute.Moment{Time: m.SentAt},
			Refused: !m.RefusedAt.IsZero(),
		})
	}
	return err
}

func isToOthers(kind string) bool {
	return slices.ContainsFunc(toOthers, func(prefix string) bool { return strings.HasPrefix(kind, prefix) })
}
