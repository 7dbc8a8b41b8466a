package fault

// Code is the machine-readable name of a refusal. Integrators switch on it, so a code is never renamed or
// given a second meaning.
type Code string

// The codes of the API, in the order of the HTTP status that carries them.
const (
	// ValidationFailed: the request is malformed; every fault is listed in the details.
	ValidationFailed Code = "VALIDATION_FAILED"
	// TaxLocationRequired: the buyer's country is needed to tax a charge, and not known.
	TaxLocationRequired Code = "TAX_LOCATION_REQUIRED"
	// SlotCountMismatch: a pack needs exactly as many times as it has sessions.
	SlotCountMismatch Code = "SLOT_COUNT_MISMATCH"
	// SlotsOverlap: two of the chosen times overlap each other.
	SlotsOverlap Code = "SLOTS_OVERLAP"
	// SlotInPast: a chosen time is not in the future.
	SlotInPast Code = "SLOT_IN_PAST"
	// SlotTaken: a chosen time is not free when it is chosen; read the slots again.
	SlotTaken Code = "SLOT_TAKEN"
	// NotBookable: the listing cannot be booked as it is (type, readiness or delivery mode).
	NotBookable Code = "NOT_BOOKABLE"
	// InvalidRange: a range ends before it starts.
	InvalidRange Code = "INVALID_RANGE"
	// RangeTooLarge: a range covers more days than one response may hold.
	RangeTooLarge Code = "RANGE_TOO_LARGE"
	// InvalidTimezone: the name is not an IANA time zone.
	InvalidTimezone Code = "INVALID_TIMEZONE"
	// PaymentMethodRequired: the customer has no saved card to charge.
	PaymentMethodRequired Code = "PAYMENT_METHOD_REQUIRED"
	// UnknownParameter: the route has no query parameter of this name.
	UnknownParameter Code = "UNKNOWN_PARAMETER"
	// SlotNotOffered: a chosen time is not one that the calendar offers: off the grid, too soon or too far ahead.
	SlotNotOffered Code = "SLOT_NOT_OFFERED"

	// Unauthenticated: the credential is missing, wrong, expired, revoked or of the wrong kind; the response
	// never reveals which.
	Unauthenticated Code = "UNAUTHENTICATED"
	// SecondStepRequired: the password is right, and the account asks for a code beside it.
	SecondStepRequired Code = "SECOND_STEP_REQUIRED"

	// CardDeclined: the card was refused; another card may succeed.
	CardDeclined Code = "CARD_DECLINED"
	// AuthenticationRequired: the bank wants the cardholder to confirm the payment.
	AuthenticationRequired Code = "AUTHENTICATION_REQUIRED"

	// Forbidden: the caller is known but the object belongs to somebody else, the account is suspended or may not sell
	// yet, the key lacks a scope, or sign-ups are closed.
	Forbidden Code = "FORBIDDEN"

	// NotFoundCode: there is no such object in the caller's account.
	NotFoundCode Code = "NOT_FOUND"
	// CustomerNotFound: the named customer is not in the caller's account.
	CustomerNotFound Code = "CUSTOMER_NOT_FOUND"

	// EmailTaken: an account with this e-mail address exists.
	EmailTaken Code = "EMAIL_TAKEN"
	// InsufficientBalance: less is available than was asked for (payout or credits).
	InsufficientBalance Code = "INSUFFICIENT_BALANCE"
	// QuoteExpired: the previewed change is too old, already used or for another plan.
	QuoteExpired Code = "QUOTE_EXPIRED"
	// SlugTaken: another listing of the platform has this slug.
	SlugTaken Code = "SLUG_TAKEN"
	// SlotUnavailable: an open session has lost the time it held; ListingURL and CancelURL lead on.
	SlotUnavailable Code = "SLOT_UNAVAILABLE"
	// CatalogKeyTaken: another listing of the account has this catalog key.
	CatalogKeyTaken Code = "CATALOG_KEY_TAKEN"
	// SessionAlreadyPaid: the checkout session is paid; nothing is charged again.
	SessionAlreadyPaid Code = "SESSION_ALREADY_PAID"
	// ListingNotPurchasable: the listing is a draft or archived, or what was bought of it once is no longer sold.
	ListingNotPurchasable Code = "LISTING_NOT_PURCHASABLE"
	// StateConflict: the object's state does not allow the operation.
	StateConflict Code = "STATE_CONFLICT"
	// AlreadySubscribed: the customer has a running subscription to the listing; PortalURL leads to it.
	AlreadySubscribed Code = "ALREADY_SUBSCRIBED"
	// IdempotencyKeyReused: the key already made an object, which the response carries.
	IdempotencyKeyReused Code = "IDEMPOTENCY_KEY_REUSED"
	// IdempotencyKeyMismatch: the key was used before with another body.
	IdempotencyKeyMismatch Code = "IDEMPOTENCY_KEY_MISMATCH"
	// IdempotencyInProgress: a request with this key is still running; try again after RetryAfter.
	IdempotencyInProgress Code = "IDEMPOTENCY_IN_PROGRESS"
	// PeriodClosed: the billing plan has had its last invoice.
	PeriodClosed Code = "PERIOD_CLOSED"
	// NotRefundable: the payment cannot be refunded by this amount or at all.
	NotRefundable Code = "NOT_REFUNDABLE"
	// LimitReached: the account has as many of these as it may have.
	LimitReached Code = "LIMIT_REACHED"

	// SessionExpired: the checkout session is over; create a new one.
	SessionExpired Code = "SESSION_EXPIRED"

	// MethodNotAllowed: the path exists, but not with this method.
	MethodNotAllowed Code = "METHOD_NOT_ALLOWED"

	// PayloadTooLarge: the request body is over the limit.
	PayloadTooLarge Code = "PAYLOAD_TOO_LARGE"

	// UnsupportedMediaType: the body has a content encoding; bodies are sent as they are.
	UnsupportedMediaType Code = "UNSUPPORTED_MEDIA_TYPE"

	// Misdirected: what the request names is in another cell, whose number the header Sundry-Cell has.
	Misdirected Code = "MISDIRECTED"

	// RateLimited: too many requests; try again after RetryAfter.
	RateLimited Code = "RATE_LIMITED"

	// Internal: the fault is ours; the request may be repeated with the same idempotency key.
	Internal Code = "INTERNAL"

	// ProcessorUnavailable: the card processor, or who calculates the tax, cannot be reached; nothing is known to have
	// been charged.
	ProcessorUnavailable Code = "PROCESSOR_UNAVAILABLE"
	// DatabaseBusy: the database could not be written in time; try again after RetryAfter.
	DatabaseBusy Code = "DATABASE_BUSY"
)

// Codes returns every code, so that a table keyed by code (HTTP status, OpenAPI) can be tested for gaps.
func Codes() []Code {
	return []Code{
		ValidationFailed, TaxLocationRequired, SlotCountMismatch, SlotsOverlap, SlotInPast, SlotTaken, NotBookable,
		InvalidRange,
		RangeTooLarge, InvalidTimezone, PaymentMethodRequired, UnknownParameter, SlotNotOffered, Unauthenticated,
		SecondStepRequired,
		CardDeclined, AuthenticationRequired, Forbidden, NotFoundCode, CustomerNotFound, EmailTaken,
		InsufficientBalance, QuoteExpired, SlugTaken, SlotUnavailable, CatalogKeyTaken, SessionAlreadyPaid,
		ListingNotPurchasable, StateConflict, AlreadySubscribed, IdempotencyKeyReused, IdempotencyKeyMismatch,
		IdempotencyInProgress,
		PeriodClosed, NotRefundable, LimitReached, SessionExpired, MethodNotAllowed, PayloadTooLarge,
		UnsupportedMediaType, Misdirected, RateLimited, Internal, ProcessorUnavailable, DatabaseBusy,
	}
}

// The codes of a single detail: why one member of a request was refused.
const (
	DetailRequired      = "REQUIRED"       // the member is missing or empty
	DetailInvalid       = "INVALID"        // the value breaks a rule no narrower code names
	DetailTooShort      = "TOO_SHORT"      // fewer characters or items than allowed
	DetailTooLong       = "TOO_LONG"       // more characters or items than allowed
	DetailOutOfRange    = "OUT_OF_RANGE"   // a number or time outside its bounds
	DetailNotAllowed    = "NOT_ALLOWED"    // the value is not one of those allowed, or not allowed here
	DetailDuplicate     = "DUPLICATE"      // the value or member occurs twice
	DetailUnknownMember = "UNKNOWN_MEMBER" // the request has no member of this name
	DetailWrongType     = "WRONG_TYPE"     // the JSON type is not the one expected
	DetailMalformed     = "MALFORMED"      // the body or value cannot be parsed
	DetailTaken         = "TAKEN"          // the time is somebody else's
	DetailNotOffered    = "NOT_OFFERED"    // the calendar does not offer the time
	DetailPast          = "PAST"           // the time is over
)
