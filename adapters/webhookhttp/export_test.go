package webhookhttp

import (
	"net"
	"syscall"
	"time"

	"sundry/core/webhook"
)

// Timeout bounds a whole attempt.
const Timeout = timeout

// NewHasty is a sender to anywhere that waits no longer than maxWait.
func NewHasty(maxWait time.Duration) *Sender { return over(&net.Dialer{}, maxWait) }

// NewWatched is a guarded sender that asks the resolver and reports every address that the guard lets through; what
// through returns ends that dial.
func NewWatched(resolver *net.Resolver, through func(address string) error) *Sender {
	return over(&net.Dialer{Resolver: resolver, Control: func(network, address string, c syscall.RawConn) error {
		if err := guard(webhook.Policy{})(network, address, c); err != nil {
			return err
		}
		return through(address)
	}}, timeout)
}
