package identity

import (
	"time"

	"sundry/core/id"
)

// AccountEventPrefix names a line of an account's access log.
const AccountEventPrefix id.Prefix = "ace"

// AccountEventKind is the kind of an entry in the access log.
type AccountEventKind string

// What the access log shows.
const (
	SignedUp            AccountEventKind = "signed_up"
	SignedIn            AccountEventKind = "signed_in"
	SignInFailed        AccountEventKind = "sign_in_failed"
	SignedOutEverywhere AccountEventKind = "signed_out_everywhere"
	PasswordChanged     AccountEventKind = "password_changed"
	PasswordReset       AccountEventKind = "password_reset"
	KeyCreated          AccountEventKind = "key_created"
	KeyRevoked          AccountEventKind = "key_revoked"
	CustomerErased      AccountEventKind = "customer_erased"

	RefundCreated          AccountEventKind = "refund_created"
	PayoutRequested        AccountEventKind = "payout_requested"
	PayoutAccountChanged   AccountEventKind = "payout_account_changed"
	WebhookEndpointCreated AccountEventKind = "webhook_endpoint_created"
	WebhookEndpointChanged AccountEventKind = "webhook_endpoint_changed"
	WebhookEndpointDeleted AccountEventKind = "webhook_endpoint_deleted"
	ListingPublished       AccountEventKind = "listing_published"
	ListingArchived        AccountEventKind = "listing_archived"
	PriceChanged           AccountEventKind = "price_changed"
	PlanChanged            AccountEventKind = "plan_changed"
	DiscountCreated        AccountEventKind = "discount_created"
	DiscountDeleted        AccountEventKind = "discount_deleted"
	PaymentLinkCreated     AccountEventKind = "payment_link_created"
	PaymentLinkChanged     AccountEventKind = "payment_link_changed"
	PaymentLinkDeactivated AccountEventKind = "payment_link_deactivated"
	AccessGranted          AccountEventKind = "access_granted"
	AccessRevoked          AccountEventKind = "access_revoked"
	SubscriptionCreated    AccountEventKind = "subscription_created"
	SubscriptionCanceled   AccountEventKind = "subscription_canceled"
	SubscriptionChanged    AccountEventKind = "subscription_changed"
	SubscriptionPaused     AccountEventKind = "subscription_paused"
	SubscriptionResumed    AccountEventKind = "subscription_resumed"
	AppointmentCanceled    AccountEventKind = "appointment_canceled"
	InvoiceCreated         AccountEventKind = "invoice_created"
	InvoiceCharged         AccountEventKind = "invoice_charged"
	BillingPlanCreated     AccountEventKind = "billing_plan_created"
	BillingPlanChanged     AccountEventKind = "billing_plan_changed"
	BillingPlanEnded       AccountEventKind = "billing_plan_ended"
	SettingsChanged        AccountEventKind = "settings_changed"
	ExportTaken            AccountEventKind = "export_taken"
	MemberInvited          AccountEventKind = "member_invited"
	MemberJoined           AccountEventKind = "member_joined"
	MemberChanged          AccountEventKind = "member_changed"
	MemberRemoved          AccountEventKind = "member_removed"
	SecondStepAdded        AccountEventKind = "second_step_added"
	SecondStepRemoved      AccountEventKind = "second_step_removed"
	SecondStepFailed       AccountEventKind = "second_step_failed"
	RecoveryCodesMade      AccountEventKind = "recovery_codes_made"
	RecoveryCodeUsed       AccountEventKind = "recovery_code_used"
	SecondStepReset        AccountEventKind = "second_step_reset"
	DisputeFileAdded       AccountEventKind = "dispute_file_added"
	DisputeFileDeleted     AccountEventKind = "dispute_file_deleted"
	DisputeResponded       AccountEventKind = "dispute_responded"
)

// AccountEventKinds lists every kind.
func AccountEventKinds() []AccountEventKind {
	return []AccountEventKind{SignedUp, SignedIn, SignInFailed, SignedOutEverywhere, PasswordChanged, PasswordReset,
		KeyCreated, KeyRevoked, CustomerErased, RefundCreated, PayoutRequested, PayoutAccountChanged,
		WebhookEndpointCreated, WebhookEndpointChanged, WebhookEndpointDeleted, ListingPublished, ListingArchived,
		PriceChanged, PlanChanged, DiscountCreated, DiscountDeleted, PaymentLinkCreated, PaymentLinkChanged,
		PaymentLinkDeactivated, AccessGranted, AccessRevoked, SubscriptionCreated, SubscriptionCanceled,
		SubscriptionChanged, SubscriptionPaused, SubscriptionResumed, AppointmentCanceled, InvoiceCreated,
		InvoiceCharged, BillingPlanCreated, BillingPlanChanged, BillingPlanEnded, SettingsChanged, ExportTaken,
		MemberInvited, MemberJoined, MemberChanged, MemberRemoved,
		SecondStepAdded, SecondStepRemoved, SecondStepFailed, RecoveryCodesMade, RecoveryCodeUsed, SecondStepReset,
		DisputeFileAdded, DisputeFileDeleted, DisputeResponded}
}

// BySelf reports whether a kind is done by its user without a sign-in from before, such as signing in.
func (k AccountEventKind) BySelf() bool {
	switch k {
	case SignedUp, SignedIn, SignedOutEverywhere, PasswordChanged, PasswordReset, MemberJoined, RecoveryCodeUsed:
		return true
	default:
		return false
	}
}

// AccountEventRetention is the time for which the access log is kept.
const AccountEventRetention = 180 * 24 * time.Hour

// AccountEvent is one line of an account's access log.
type AccountEvent struct {
	ID        string
	CreatorID string
	Kind      AccountEventKind
	// Actor did it; its ID is "" where nobody was signed in, and in lines from before actors were recorded.
	Actor
	// ObjectID is the id of what it was done to, such as a refund; "" for the account itself.
	ObjectID string
	// Note describes the object for people: a key's name, an endpoint's URL, an amount.
	Note string
	At   time.Time // real time
}

// Actor names the user of an account and their network.
type Actor struct {
	// ID is the owner's or a member's, for someone who is signed in, or that of an API key.
	ID string
	// Name is the name and the last characters of an API key, or a member's name and address; "" for the owner.
	Name string
	Client
}

// Audited is published by a use case that the access log records: what was done to which object of the account.
type Audited struct {
	CreatorID string
	Kind      AccountEventKind
	ObjectID  string
	Note      string
}

// EventName implements event.Event.
func (Audited) EventName() string { return "account.audited" }
