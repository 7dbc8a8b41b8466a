package customers

import (
	"github.com/gofiber/fiber/v2"

	"sundry/adapters/httpapi"
	"sundry/adapters/httpapi/strictjson"
	"sundry/core/apiformat"
	"sundry/core/customer"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/ports"
)

// customerView is a customer as the API shows them.
type customerView struct {
	ID                 string  `json:"id"`
	Livemode           bool    `json:"livemode"`
	Email              *string `json:"email"`
	DisplayName        *string `json:"displayName"`
	ExternalCustomerID *string `json:"externalCustomerId"`
	// BillingAddress is null while no country is known.
	BillingAddress *addressView      `json:"billingAddress"`
	TaxID          *string           `json:"taxId"`
	Metadata       map[string]string `json:"metadata"`
	CreatedAt      string            `json:"createdAt"`
	UpdatedAt      string            `json:"updatedAt"`
	ErasedAt       *string           `json:"erasedAt"`
}

// addressView is a billing address.
type addressView struct {
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postalCode"`
	Country    string  `json:"country"`
}

func newAddressView(a customer.Address) *addressView {
	if a.Country == "" {
		return nil
	}
	return &addressView{
		Line1: apiformat.Text(a.Line1), Line2: apiformat.Text(a.Line2), City: apiformat.Text(a.City),
		State: apiformat.Text(a.State), PostalCode: apiformat.Text(a.PostalCode), Country: a.Country,
	}
}

// addressRequest is a billing address as a request gives it.
type addressRequest struct {
	Line1      *string `json:"line1"`
	Line2      *string `json:"line2"`
	City       *string `json:"city"`
	State      *string `json:"state"`
	PostalCode *string `json:"postalCode"`
	Country    *string `json:"country"`
}

func (a *addressRequest) address() customer.Address {
	if a == nil {
		return customer.Address{}
	}
	return customer.Address{
		Line1: httpapi.ValueOf(a.Line1), Line2: httpapi.ValueOf(a.Line2), City: httpapi.ValueOf(a.City),
		State: httpapi.ValueOf(a.State), PostalCode: httpapi.ValueOf(a.PostalCode), Country: httpapi.ValueOf(a.Country),
	}
}

func (h handlers) newCustomerView(s customer.State) customerView {
	return customerView{
		ID: s.ID, Livemode: h.Live, Email: apiformat.Text(s.Email), DisplayName: apiformat.Text(s.DisplayName),
		ExternalCustomerID: apiformat.Text(s.ExternalCustomerID), BillingAddress: newAddressView(s.Details.Address),
		TaxID: apiformat.Text(s.Details.TaxID), Metadata: s.Metadata.Map(), CreatedAt: apiformat.Instant(s.CreatedAt),
		UpdatedAt: apiformat.Instant(s.UpdatedAt), ErasedAt: apiformat.Time(s.ErasedAt),
	}
}

func (h handlers) list(c *fiber.Ctx) error {
	var f fault.Violations
	page := httpapi.ReadPage(c, &f, id.Customer)
	filter := ports.CustomerFilter{
		CreatorID: httpapi.Account(c), Email: httpapi.QueryText(c, &f, "email"),
		ExternalCustomerID: httpapi.QueryText(c, &f, "externalCustomerId"),
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.RespondList(c, h.newCustomerView)(h.Customers.List(c.UserContext(), filter, page))
}

// customerRequest is the body of a POST.
type customerRequest struct {
	Email              *string            `json:"email"`
	DisplayName        *string            `json:"displayName"`
	ExternalCustomerID *string            `json:"externalCustomerId"`
	BillingAddress     *addressRequest    `json:"billingAddress"`
	TaxID              *string            `json:"taxId"`
	Metadata           *map[string]string `json:"metadata"`
}

func (h handlers) post(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[customerRequest](c)
	draft := customer.Draft{
		Email: httpapi.ValueOf(in.Email), DisplayName: httpapi.ValueOf(in.DisplayName),
		ExternalCustomerID: httpapi.ValueOf(in.ExternalCustomerID), BillingAddress: in.BillingAddress.address(),
		TaxID: httpapi.ValueOf(in.TaxID), Metadata: httpapi.ValueOf(in.Metadata),
	}
	var f fault.Violations
	f.Check(in.ExternalCustomerID == nil || *in.ExternalCustomerID != "", "externalCustomerId", fault.DetailTooShort,
		"Expected 1 to 255 characters; leave it out for none.")
	f.Check(in.BillingAddress == nil || draft.BillingAddress != customer.Address{}, "billingAddress.country",
		fault.DetailRequired, "Expected at least the country; leave the address out for none.")
	if err := httpapi.MergeFieldErrors(reading, f.Err(), draft.Check()); err != nil {
		return err
	}
	return httpapi.RespondStatus(c, fiber.StatusCreated, h.newCustomerView)(
		h.Customers.Create(c.UserContext(), httpapi.Account(c), draft),
	)
}

func (h handlers) get(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newCustomerView)(h.Customers.Get(c.UserContext(), httpapi.Account(c), c.Params("id")))
}

// customerPatch is the body of a PATCH. Null clears the name, the billing address, the tax ID and the metadata.
type customerPatch struct {
	Email              strictjson.Optional[string]            `json:"email"`
	DisplayName        strictjson.Optional[string]            `json:"displayName"`
	ExternalCustomerID strictjson.Optional[string]            `json:"externalCustomerId"`
	BillingAddress     strictjson.Optional[addressRequest]    `json:"billingAddress"`
	TaxID              strictjson.Optional[string]            `json:"taxId"`
	Metadata           strictjson.Optional[map[string]string] `json:"metadata"`
}

func (h handlers) patch(c *fiber.Ctx) error {
	in, reading := httpapi.Decode[customerPatch](c)
	var f fault.Violations
	patch := customer.Patch{
		Email:              httpapi.PatchValue(&f, "email", in.Email),
		ExternalCustomerID: httpapi.PatchValue(&f, "externalCustomerId", in.ExternalCustomerID),
	}
	if in.DisplayName.Set {
		patch.DisplayName = &in.DisplayName.Value
	}
	if in.BillingAddress.Set {
		address := in.BillingAddress.Value.address()
		patch.BillingAddress = &address
	}
	if in.TaxID.Set {
		patch.TaxID = &in.TaxID.Value
	}
	patch.Metadata, patch.ClearMetadata = in.Metadata.Value, in.Metadata.Null
	if err := httpapi.MergeFieldErrors(reading, f.Err(), patch.Check()); err != nil {
		return err
	}
	return httpapi.Respond(c, h.newCustomerView)(
		h.Customers.Update(c.UserContext(), httpapi.Account(c), c.Params("id"), patch),
	)
}

func (h handlers) postErasure(c *fiber.Ctx) error {
	return httpapi.Respond(c, h.newCustomerView)(h.Customers.Erase(c.UserContext(), httpapi.Account(c), c.Params("id")))
}
