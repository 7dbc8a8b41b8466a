package stripepay

// StatusOf is the HTTP status of Stripe's refusal behind an error; 0 without one.
func StatusOf(err error) int {
	if refused := refusal(err); refused != nil {
		return refused.status
	}
	return 0
}
