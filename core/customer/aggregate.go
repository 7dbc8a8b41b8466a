package customer

import (
	"time"

	"sundry/core/fault"
	"sundry/core/metadata"
	"sundry/core/text"
)

// Customer is the aggregate.
type Customer struct{ s State }

// Draft is a customer as the integrator describes them.
type Draft struct {
	Email              string
	DisplayName        string
	ExternalCustomerID string // may be empty
	BillingAddress     Address
	TaxID              string
	Metadata           map[string]string
}

// Check lists everything that is wrong with the draft, as one VALIDATION_FAILED error.
func (d Draft) Check() error {
	var f fault.Violations
	ValidateEmail("email", d.Email, &f)
	text.CheckLine(&f, "displayName", d.DisplayName, MaxName)
	if d.ExternalCustomerID != "" {
		ValidateExternalID("externalCustomerId", d.ExternalCustomerID, &f)
	}
	checkPlace(d.BillingAddress, d.TaxID, &f)
	metadata.Check(d.Metadata, f.Nest("metadata"))
	return f.Err()
}

// checkPlace checks a billing address and a tax ID, each of which may be empty.
func checkPlace(a Address, taxID string, f *fault.Violations) {
	if a != (Address{}) {
		a.validate(f.Nest("billingAddress"))
	}
	Details{Address: a, TaxID: taxID}.validateTaxID(f)
}

// New makes a customer of a draft.
func New(id, creatorID string, d Draft, now time.Time) (*Customer, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	return &Customer{State{
		ID: id, CreatorID: creatorID, Email: d.Email, DisplayName: d.DisplayName, ExternalCustomerID: d.ExternalCustomerID,
		Details: Details{Address: d.BillingAddress, TaxID: d.TaxID}, Metadata: metadata.Pairs{}.Merge(d.Metadata),
		CreatedAt: now, UpdatedAt: now, Revision: 1,
	}}, nil
}

// Restore rebuilds a customer from its stored state.
func Restore(s State) *Customer { return &Customer{s} }

// State returns a copy of the data.
func (c *Customer) State() State { return c.s }

// Patch is a change of a customer: nil members stay as they are.
type Patch struct {
	Email, DisplayName, ExternalCustomerID *string
	// BillingAddress replaces the whole address; the zero value clears it. An empty TaxID clears that.
	BillingAddress *Address
	TaxID          *string
	// Metadata is merged into the pairs that there are: an empty value removes its key. ClearMetadata removes all first.
	Metadata      map[string]string
	ClearMetadata bool
}

// Update changes a customer. renamed is nil unless the name changes under which access is read.
func (c *Customer) Update(p Patch, now time.Time) (renamed *Renamed, changed bool, err error) {
	if err := c.s.RefuseErased(); err != nil {
		return nil, false, err
	}
	after := c.s
	for _, member := range []struct{ from, to *string }{
		{p.Email, &after.Email}, {p.DisplayName, &after.DisplayName}, {p.ExternalCustomerID, &after.ExternalCustomerID},
	} {
		if member.from != nil {
			*member.to = *member.from
		}
	}
	if p.BillingAddress != nil {
		after.Details.Address = *p.BillingAddress
	}
	if p.TaxID != nil {
		after.Details.TaxID = *p.TaxID
	}
	if p.ClearMetadata {
		after.Metadata = metadata.Pairs{}
	}
	after.Metadata = after.Metadata.Merge(p.Metadata)
	if err := p.check(after.Details, after.Metadata.Map()); err != nil {
		return nil, false, err
	}
	if after == c.s {
		return nil, false, nil
	}
	from := AccessKey(c.s.ExternalCustomerID, c.s.ID)
	c.s = after
	c.s.UpdatedAt = now
	c.s.Revision++
	if to := AccessKey(c.s.ExternalCustomerID, c.s.ID); to != from {
		renamed = &Renamed{State: c.s, From: from, To: to}
	}
	return renamed, true, nil
}

// Check lists everything that is wrong with the change whatever it changes, as one VALIDATION_FAILED error.
func (p Patch) Check() error {
	var d Details
	if p.BillingAddress != nil {
		d.Address = *p.BillingAddress
	}
	if p.TaxID != nil {
		d.TaxID = *p.TaxID
	}
	return p.check(d, p.Metadata)
}

// check is Check of a change that leads to some details and metadata: a VAT ID is one of the address's country.
func (p Patch) check(after Details, pairs map[string]string) error {
	var f fault.Violations
	if p.Email != nil {
		ValidateEmail("email", *p.Email, &f)
	}
	if p.DisplayName != nil {
		text.CheckLine(&f, "displayName", *p.DisplayName, MaxName)
	}
	if p.ExternalCustomerID != nil {
		ValidateExternalID("externalCustomerId", *p.ExternalCustomerID, &f)
	}
	if p.BillingAddress != nil || p.TaxID != nil {
		checkPlace(after.Address, after.TaxID, &f)
	}
	if p.Metadata != nil {
		metadata.Check(pairs, f.Nest("metadata"))
	}
	return f.Err()
}

// Bought takes over what the customer entered about themselves at a checkout. changed is false when it is known
// already.
func (c *Customer) Bought(email string, d Details, now time.Time) (changed bool) {
	after := c.s
	after.Details = d.Over(c.s.Details)
	if after.Email == "" {
		after.Email = email
	}
	if after.DisplayName == "" {
		after.DisplayName = d.Name
	}
	if after == c.s {
		return false
	}
	c.s = after
	c.s.UpdatedAt, c.s.ErasedAt = now, time.Time{}
	c.s.Revision++
	return true
}
