package subscription

// Rename sets the integrator's own identifier of the customer. changed is false when the subscription has it already.
func (sub *Subscription) Rename(externalCustomerID string) (e Updated, changed bool) {
	if sub.s.ExternalCustomerID == externalCustomerID {
		return Updated{}, false
	}
	before := sub.s
	sub.s.ExternalCustomerID = externalCustomerID
	return sub.updated(before), true
}
