package ports

import (
	"context"

	"sundry/core/access"
	"sundry/core/appointment"
	"sundry/core/customer"
	"sundry/core/discount"
	"sundry/core/event"
	"sundry/core/identity"
	"sundry/core/ledger"
	"sundry/core/listing"
	"sundry/core/money"
	"sundry/core/payment"
	"sundry/core/paymentmethod"
	"sundry/core/payout"
	"sundry/core/period"
	"sundry/core/plan"
	"sundry/core/refund"
)

// Queries that one area makes to another. Each runs inside the caller's transaction.

// Offers resolves what is being bought, for checkout; the catalog implements it. Refusals: NOT_FOUND for an unknown
// listing, plan, interval or currency, LISTING_NOT_PURCHASABLE for the account's own listing that is not ACTIVE. Where
// no currency is named, a plan with prices in several is sold in that of the buyer's country, or else in the listing's.
type Offers interface {
	// ByCatalog finds the offer by stable keys. A plan with a one-time price ignores the interval.
	ByCatalog(ctx context.Context, r Repos, creatorID string, c CatalogChoice) (plan.Offer, error)
	// ByListing finds the offer by ids. A plan with a one-time price ignores the interval.
	ByListing(ctx context.Context, r Repos, creatorID string, c ListingChoice) (plan.Offer, error)
	// ByLink finds what a payment link sells. NOT_FOUND for an unknown link, LISTING_NOT_PURCHASABLE for an inactive one
	// and where what it sold is no longer sold.
	ByLink(ctx context.Context, r Repos, code string, buyer BuyerCountry) (LinkOffer, error)
	// Again finds what was offered once as it is sold now, in the same quantity, and in the same currency where it still
	// is. LISTING_NOT_PURCHASABLE where it no longer is sold, or where a payment link offered it that is inactive now;
	// linkID is "" without one.
	Again(ctx context.Context, r Repos, once plan.Offer, linkID string) (plan.Offer, error)
	// Preview finds the default plan's offer of any account's listing that is not ARCHIVED, published or not.
	Preview(ctx context.Context, r Repos, listingID string) (plan.Offer, error)
}

// AgreedOffers resolves what goes on at a price that was agreed elsewhere, for subscriptions; catalog implements it.
type AgreedOffers interface {
	// AtPrice finds a listing's offer at a price, whatever the status of the listing: of the plan that has the price, else
	// of its default plan. NOT_FOUND for a listing of another account.
	AtPrice(ctx context.Context, r Repos, creatorID, listingID string, agreed plan.Price) (plan.Offer, error)
}

// CatalogChoice names an offer by stable keys.
type CatalogChoice struct {
	Listing, Plan string
	Every         period.Cadence
	// Variant is a variant's key; "" = the listing's default one.
	Variant string
	// Currency selects the price; "" = the currency of Buyer's country, or else the listing's.
	Currency money.Currency
	Buyer    BuyerCountry
	// MayChange names the parts of the offer that the buyer may change.
	MayChange plan.Changes
}

// ListingChoice names an offer by the ids of a listing and, where it is booked, a variant ("" = the default one).
type ListingChoice struct {
	ListingID, VariantID string
	// Plan and Every select the price; "" = the default plan, and the cadence that plan.State.Price chooses.
	Plan  string
	Every period.Cadence
	// Currency is that of CatalogChoice.
	Currency  money.Currency
	Buyer     BuyerCountry
	MayChange plan.Changes
}

// LinkOffer holds the offer of a payment link, and where its buyers go afterwards ("" = they stay).
type LinkOffer struct {
	Offer              plan.Offer
	LinkID, SuccessURL string
}

// BuyerCountry returns the country of a buyer, ISO 3166-1 alpha-2, or "" where it is not known. It is called only where
// it decides the currency; a nil function knows none.
type BuyerCountry func(context.Context) (string, error)

// Buyer identifies who buys of a listing: by the integrator's name, or without one by e-mail address, and by the card.
type Buyer struct {
	CreatorID, ListingID string
	ExternalCustomerID   string
	Email                string
	// Card recognizes the card among those that had a trial of the listing; "" where it is not known. It counts for trials
	// only.
	Card string
}

// PastSubscriptions returns what a buyer has had of a listing, for checkout; subscriptions implements it.
type PastSubscriptions interface {
	// HadTrial reports whether the buyer has had a trial of the listing.
	HadTrial(ctx context.Context, r Repos, b Buyer) (bool, error)
	// RunningFor returns the customer of the buyer's running subscription to the listing; ok is false without one. Only a
	// buyer whom the integrator named has one.
	RunningFor(ctx context.Context, r Repos, b Buyer) (customerID string, ok bool, err error)
}

// DisputedSubscriptions returns the disputes of subscriptions, for invoicing; subscriptions implements it.
type DisputedSubscriptions interface {
	// DisputeOf reports whether a payment of a subscription is in an open dispute, and whether a lost one has ended it.
	DisputeOf(ctx context.Context, r Repos, subscriptionID string) (open, lost bool, err error)
}

// PlanTerms returns the benefits of plans, for access; the catalog implements it.
type PlanTerms interface {
	// TermsOf finds a plan of the account's listing by stable keys, without a price: nothing is bought. NOT_FOUND for an
	// unknown listing or plan, LISTING_NOT_PURCHASABLE for a draft; an archived listing still has its terms.
	TermsOf(ctx context.Context, r Repos, creatorID, listingKey, planKey string) (plan.Offer, error)
}

// BookedListings returns listings for booking; the catalog implements it.
type BookedListings interface {
	// Listing loads a listing of any account, whatever its status. NOT_FOUND.
	Listing(ctx context.Context, r Repos, listingID string) (listing.State, error)
}

// DiscountCodes checks and redeems discount codes for checkout; the catalog implements it.
type DiscountCodes interface {
	// DiscountTerms returns the reduction that a code grants on a sale. VALIDATION_FAILED, with one detail that has no
	// field, for a code that is unknown or not valid for the sale.
	DiscountTerms(ctx context.Context, r Repos, creatorID, code string, sale discount.Sale) (discount.Terms, error)
	// RedeemDiscount counts the use of a discount by a session; again, it changes nothing. LIMIT_REACHED when the discount
	// has been used as often as it may be: nothing has changed then, and the transaction may go on.
	RedeemDiscount(ctx context.Context, r Repos, creatorID, discountID, checkoutID string) error
	// ReleaseDiscount takes back the use of a discount by a session, if there is one.
	ReleaseDiscount(ctx context.Context, r Repos, creatorID, checkoutID string) error
}

// AccessVersions returns and locks the version of a customer's snapshot, for checkout and payments; access implements
// it.
type AccessVersions interface {
	// LockAccess keeps everybody else from changing the customer's access until the transaction ends. It comes before
	// locks that all customers of an account share, such as a document number.
	LockAccess(ctx context.Context, r Repos, creatorID, externalCustomerID string) error
	// AccessVersion is the version of the customer's snapshot; 0 for one without access.
	AccessVersion(ctx context.Context, r Repos, creatorID, externalCustomerID string) (int64, error)
}

// PurchasedAccess returns what a purchase opens now, for files; access implements it.
type PurchasedAccess interface {
	// AccessOf returns the listings that a checkout session gives access to now: none once it was refunded, while it is
	// disputed, and after its subscription has ended.
	AccessOf(ctx context.Context, r Repos, creatorID, checkoutID string) (listingIDs []string, err error)
}

// ReceiptLinks makes the links to receipts in mails to buyers; checkout implements it.
type ReceiptLinks interface {
	// ReceiptURL is the buyer's printable receipt of a paid checkout. Anyone who has it can read the receipt.
	ReceiptURL(checkoutID string) string
}

// ImageLinks makes the links to pictures in mails; the pages implement it.
type ImageLinks interface {
	// ImageURL is the absolute address on our own host of a picture that a creator uploaded or named; "" when it cannot be
	// shown.
	ImageURL(address string) string
}

// AccountReader returns what other areas need to know of an account; identity implements it.
type AccountReader interface {
	// SellerName is the creator's display name.
	SellerName(ctx context.Context, r Repos, creatorID string) (string, error)
	// Storefront returns the creator's profile as buyers see it.
	Storefront(ctx context.Context, r Repos, creatorID string) (identity.Storefront, error)
	// RefundPolicy returns the refund policy that the creator has or had, by its hash (checkout.PolicyHash); "" for none.
	RefundPolicy(ctx context.Context, r Repos, creatorID, hash string) (string, error)
	// Notifications are the mails that the creator wants to get.
	Notifications(ctx context.Context, r Repos, creatorID string) (identity.Notifications, error)
	// Account is the creator's display name and the address that mail reaches them at.
	Account(ctx context.Context, r Repos, creatorID string) (name, address string, err error)
}

// AccountLinks makes the links of mails to the people of an account; identity implements it.
type AccountLinks interface {
	// PasswordResetURL returns the page on which a link sets a new password. Anyone who has it can.
	PasswordResetURL(l identity.ResetLink) string
	// EmailConfirmationURL returns the page on which a link confirms an address. Anyone who has it can.
	EmailConfirmationURL(l identity.ConfirmationLink) string
	// MemberInvitationURL returns the page on which a link accepts an invitation. Anyone who has it can.
	MemberInvitationURL(l identity.MemberLink) string
}

// BuyerReader finds the buyer of a session, for mails about changed appointments; checkout implements it.
type BuyerReader interface {
	// Buyer returns the buyer's address, name and locale.
	Buyer(ctx context.Context, r Repos, checkoutID string) (Addressee, error)
}

// Addressee is a mail recipient. Fields the buyer did not enter are empty.
type Addressee struct {
	Address, Name string
	// Locale is their language, a tag of core/locale.
	Locale string
}

// AppointmentReader returns appointments for mails; booking implements it.
type AppointmentReader interface {
	// ManageURL returns the page on which the buyer sees, moves and cancels an appointment. Anyone who has it can do the
	// same.
	ManageURL(appointmentID string) string
	// Booked are the appointments of a session, in the buyer's order.
	Booked(ctx context.Context, r Repos, creatorID, checkoutID string) ([]appointment.State, error)
	// CalendarEntry is an appointment as calendars know it.
	CalendarEntry(a appointment.State) CalendarEntry
	// CreatorZone is the zone that a creator works in, IANA.
	CreatorZone(ctx context.Context, r Repos, creatorID string) (string, error)
}

// Hold describes the times that a checkout session reserves for its buyer.
type Hold struct {
	CreatorID  string
	CheckoutID string
	ListingID  string
	VariantID  string // "" = the default one
	// DurationMinutes and SessionCount are those that were sold, even if the variant has changed since; 0 = as the variant
	// says now.
	DurationMinutes, SessionCount int
	// DeliveryModes are those that were sold, even if the listing has changed since; none = as the listing says now.
	DeliveryModes []string
	// Picks are in the buyer's order.
	Picks []appointment.SlotChoice
}

// Confirmation reports whose payment of a session has arrived.
type Confirmation struct {
	CreatorID  string
	CheckoutID string
	Buyer      appointment.Buyer
	// RefundPolicy is the policy that the buyer was shown before they paid.
	RefundPolicy appointment.RefundPolicy
}

// SlotQueue lets the buyers of one time decide one after the other, before their transactions.
type SlotQueue interface {
	Network
	// LockSlots serializes buyers of the same times (best effort, bounded wait); call leave to release. Only Bookings.Hold
	// refuses.
	LockSlots(ctx context.Context, h Hold) (leave func())
}

// Bookings reserves times for checkout, inside the caller's transaction. After a refusal the transaction must not
// commit, except where a method says otherwise.
type Bookings interface {
	// Ready refuses with NOT_BOOKABLE, naming each missing thing, what cannot be booked as it is. NOT_FOUND.
	Ready(ctx context.Context, r Repos, creatorID, listingID, variantID string) error
	// Hold reserves times for a session, all or none, in the place of those that it held before. They come back in
	// the buyer's order. NOT_FOUND, NOT_BOOKABLE naming each missing thing, VALIDATION_FAILED, INVALID_TIMEZONE,
	// SLOT_COUNT_MISMATCH, SLOTS_OVERLAP, SLOT_IN_PAST, SLOT_TAKEN, STATE_CONFLICT once they are confirmed.
	Hold(ctx context.Context, r Repos, h Hold) ([]appointment.ReservationState, error)
	// Held lists the live reservations of a session by position: fewer than it chose when it has lost them.
	Held(ctx context.Context, r Repos, creatorID, checkoutID string) ([]appointment.ReservationState, error)
	// Release frees what a session holds; again, it changes nothing. STATE_CONFLICT once confirmed.
	Release(ctx context.Context, r Repos, creatorID, checkoutID string) error
	// Confirm makes an appointment of each time of a session that is paid; again, it responds the same. Times that were
	// released meanwhile are reserved again: ok is false when that cannot be done for all of them. Nothing has changed
	// then, the transaction may go on, and the buyer gets the money back.
	// What was booked is the caller's to publish, after its own news.
	Confirm(ctx context.Context, r Repos, c Confirmation) (booked []event.Event, ok bool, err error)
	// Booked lists the appointments of a session by position, canceled ones too.
	Booked(ctx context.Context, r Repos, creatorID, checkoutID string) ([]appointment.State, error)
}

// AppointmentRefunds refunds canceled appointments for booking; payments implements it.
type AppointmentRefunds interface {
	// RefundableShare returns the amount a refund of a share would return now: less than the share where most was refunded
	// otherwise. Where it is nothing, the decision gives the reason.
	RefundableShare(ctx context.Context, r Repos, s AppointmentShare) (appointment.RefundDecision, money.Amount, error)
	// RefundShare makes that refund's record; a task asks the processor. With anything but appointment.RefundDue there is
	// none.
	RefundShare(ctx context.Context, r Repos, s AppointmentShare) (appointment.Refund, error)
	// AppointmentRefund is a refund that RefundShare made. NOT_FOUND.
	AppointmentRefund(ctx context.Context, r Repos, creatorID, refundID string) (refund.State, error)
}

// AppointmentShare is the part of a session's payment that is for one of its appointments.
type AppointmentShare struct {
	CreatorID, CheckoutID string
	// Position is the appointment's among Count, from 0.
	Position, Count int
}

// CustomerReader returns customers for other areas; customers implements it.
type CustomerReader interface {
	// Customer is a customer of any account. NOT_FOUND for an unknown id.
	Customer(ctx context.Context, r Repos, customerID string) (customer.State, error)
	// CustomerForShare is Customer that keeps them as they are until the transaction ends, for what must not be made of
	// somebody who is erased meanwhile.
	CustomerForShare(ctx context.Context, r Repos, customerID string) (customer.State, error)
}

// SavedCards returns the cards of customers, for subscriptions; payments implements it.
type SavedCards interface {
	// SavedCard returns the customer's usable card of an id, or their latest for "". PAYMENT_METHOD_REQUIRED without one.
	SavedCard(ctx context.Context, r Repos, customerID, cardID string) (paymentmethod.State, error)
}

// CheckoutPayments finds the payment of a session, for refunds that name one; checkout implements it.
type CheckoutPayments interface {
	// PaymentOf is the payment that a session of the account is paid by, "" while it is not. NOT_FOUND.
	PaymentOf(ctx context.Context, r Repos, creatorID, checkoutID string) (paymentID string, err error)
	// BeginAgain writes the attempt behind a charge of a provider that the database has lost, as Charges.Begin does, if
	// the session that it names would be charged the same today. Faults: NOT_FOUND; STATE_CONFLICT when its buyer or price
	// is another one by now; and those of paying the session.
	BeginAgain(ctx context.Context, r Repos, provider string, c ChargeReport) (payment.State, error)
}

// CustomerMeters returns the usage of a customer, for access; usage implements it.
type CustomerMeters interface {
	// MetersOf lists the meters of a customer's current periods, by key.
	MetersOf(ctx context.Context, r Repos, creatorID, externalCustomerID string) ([]access.Meter, error)
}

// PayoutStatements returns the content of payout statements, for invoicing; treasury implements it.
type PayoutStatements interface {
	// StatementOf sums up what became available since the payout before and what was taken from it, down to this payout.
	StatementOf(ctx context.Context, r Repos, p payout.State) (ledger.Statement, error)
}

// PayoutSchedules returns the payout schedules of accounts, for treasury; identity implements it.
type PayoutSchedules interface {
	// PayoutSchedule returns the schedule of an account's automatic payouts. NOT_FOUND.
	PayoutSchedule(ctx context.Context, r Repos, creatorID string) (payout.Schedule, error)
}

// PortalLinks makes the links to the portal in mails and refusals; customers implements it.
type PortalLinks interface {
	// PortalURL is a customer's portal, good for 30 days. Anyone who has it can cancel their subscriptions.
	PortalURL(customerID string) (string, error)
	// MailedPortalURL is PortalURL for a mail to an address: it shows what all customers of the account with that address
	// have bought.
	MailedPortalURL(customerID, address string) (string, error)
}
