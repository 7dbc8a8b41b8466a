package ports

import "context"

// OutboundRequest is one signed message on its way.
type OutboundRequest struct {
	URL     string
	Headers map[string]string
	Body    []byte
}

// OutboundResponse is the receiver's response.
type OutboundResponse struct {
	StatusCode int
	RetryAfter string // the header, unread
	Body       string // at most its first 16 kB
}

// Sender posts to addresses that untrusted parties chose. It follows no redirect, dials no address that is not public,
// and bounds everything it reads. Its errors are short and fit to be shown to the endpoint's owner.
type Sender interface {
	Network
	Send(ctx context.Context, r OutboundRequest) (OutboundResponse, error)
}
