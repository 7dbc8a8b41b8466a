package subscription

import "sundry/core/metadata"

// SetMetadata changes the integrator's own pairs, also of a subscription that has ended. changed is false when they
// stay as they are. VALIDATION_FAILED.
func (sub *Subscription) SetMetadata(c metadata.Change) (e Updated, changed bool, err error) {
	after, err := c.Apply(sub.s.Metadata)
	if err != nil || after == sub.s.Metadata {
		return Updated{}, false, err
	}
	before := sub.s
	sub.s.Metadata = after
	return sub.updated(before), true, nil
}
