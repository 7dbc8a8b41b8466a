package httpapi

import (
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"sundry/core/fault"
	"sundry/ports"
)

// statusOf maps every code of a fault to its HTTP status. No other place decides that.
var statusOf = map[fault.Code]int{
	fault.ValidationFailed: 400, fault.SlotCountMismatch: 400, fault.SlotsOverlap: 400, fault.SlotInPast: 400,
	fault.SlotTaken:   400,
	fault.NotBookable: 400, fault.InvalidRange: 400, fault.RangeTooLarge: 400, fault.InvalidTimezone: 400,
	fault.PaymentMethodRequired: 400, fault.TaxLocationRequired: 400,
	fault.UnknownParameter: 400, fault.SlotNotOffered: 400,
	fault.Unauthenticated: 401, fault.SecondStepRequired: 401,
	fault.CardDeclined: 402, fault.AuthenticationRequired: 402,
	fault.Forbidden:    403,
	fault.NotFoundCode: 404, fault.CustomerNotFound: 404,
	fault.EmailTaken: 409, fault.InsufficientBalance: 409, fault.QuoteExpired: 409, fault.SlugTaken: 409,
	fault.SlotUnavailable: 409,
	fault.CatalogKeyTaken: 409, fault.SessionAlreadyPaid: 409, fault.ListingNotPurchasable: 409,
	fault.AlreadySubscribed:    409,
	fault.StateConflict:        409,
	fault.IdempotencyKeyReused: 409, fault.IdempotencyKeyMismatch: 409, fault.IdempotencyInProgress: 409,
	fault.PeriodClosed:  409,
	fault.NotRefundable: 409, fault.LimitReached: 409,
	fault.SessionExpired:       410,
	fault.MethodNotAllowed:     405,
	fault.PayloadTooLarge:      413,
	fault.UnsupportedMediaType: 415,
	fault.Misdirected:          421,
	fault.RateLimited:          429,
	fault.Internal:             500,
	fault.ProcessorUnavailable: 503, fault.DatabaseBusy: 503,
}

// errorView is the body of every error response.
type errorView struct {
	Code       fault.Code   `json:"code"`
	Message    string       `json:"message"`
	RequestID  string       `json:"requestId"`
	Details    []detailView `json:"details,omitempty"`
	ListingURL string       `json:"listingUrl,omitempty"`
	CancelURL  string       `json:"cancelUrl,omitempty"`
	PortalURL  string       `json:"portalUrl,omitempty"`
	// DeclineCode is the reason of a decline, with CARD_DECLINED.
	DeclineCode string `json:"declineCode,omitempty"`
}

type detailView struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// asFault makes any error presentable. What is not the caller's fault becomes INTERNAL, without its text.
func asFault(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if fe, ok := errors.AsType[*fiber.Error](err); ok {
		switch fe.Code {
		case fiber.StatusRequestEntityTooLarge:
			return fault.New(fault.PayloadTooLarge, "The body may have at most 1 MiB.")
		case fiber.StatusMethodNotAllowed:
			return fault.New(
				fault.MethodNotAllowed,
				"This path exists, but not with this method. The header Allow lists those that it has.",
			)
		case fiber.StatusNotFound:
			return fault.New(fault.NotFoundCode, "No such route. See /docs/reference for the list.")
		}
		if fe.Code < 500 {
			// fasthttp repeats the headers there, with any credential
			why, _, _ := strings.Cut(fe.Message, ". Buffer size=")
			return fault.New(fault.ValidationFailed, "The request could not be read: "+why+".")
		}
	}
	if errors.Is(err, ports.ErrDatabaseBusy) {
		return fault.Wrap(fault.DatabaseBusy, "The database is busy. Nothing was changed: try again in a moment.", err)
	}
	if errors.Is(err, ports.ErrDatabaseLost) {
		return fault.Wrap(fault.DatabaseBusy, "The connection to the database was lost, so this was done or not: read it, "+
			"or try again with the same Idempotency-Key in a moment.", err)
	}
	return fault.Wrap(
		fault.Internal, "Something went wrong on our side. Try again; if it continues, contact us with the requestId.",
		err,
	)
}

// StatusOf returns the status of an error, for the pages too, which have their own texts.
func StatusOf(err error) int {
	if status, ok := statusOf[asFault(err).Code]; ok {
		return status
	}
	return fiber.StatusInternalServerError
}

var quotedCode = regexp.MustCompile("`([A-Z_]+)`")

// DocumentedCodes returns the codes that the description of a response in the OpenAPI document names.
func DocumentedCodes(description string) []fault.Code {
	var codes []fault.Code
	for _, quoted := range quotedCode.FindAllStringSubmatch(description, -1) {
		if code := fault.Code(quoted[1]); statusOf[code] != 0 && !slices.Contains(codes, code) {
			codes = append(codes, code)
		}
	}
	return codes
}

// MessageOf returns the message of an error, fit for the client.
func MessageOf(err error) string { return asFault(err).Message }

// handleError writes the response to every error of every route.
func (s *Server) handleError(c *fiber.Ctx, err error) error {
	if requestID(c) == "" && s.handleReadError(c, err) {
		return nil
	}
	f := s.misdirected(c, hideReason(c, asFault(err)))
	status := StatusOf(f)
	if status >= 500 && !errors.Is(err, errShed) {
		s.Log.ErrorContext(c.UserContext(), "request failed", slog.String("requestId", requestID(c)),
			slog.String("method", c.Method()), slog.String("route", c.Route().Path), slog.Any("error", err))
	}
	view := errorView{
		Code: f.Code, Message: f.Message, RequestID: requestID(c), ListingURL: f.ListingURL, CancelURL: f.CancelURL,
		PortalURL: f.PortalURL, DeclineCode: f.DeclineCode,
	}
	for _, d := range f.Details {
		view.Details = append(view.Details, detailView(d))
	}
	if status == fiber.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
	}
	if wait := f.RetrySeconds(); wait > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(wait))
	}
	if f.Code == fault.Misdirected {
		c.Set(cellHeader, strconv.Itoa(int(f.Cell)))
	}
	return c.Status(status).JSON(view)
}
