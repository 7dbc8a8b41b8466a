package cli

import (
	"errors"
	"fmt"
	"io"
)

// ErrDemoElsewhere reports that another cell of the deployment has the demo creator, whose address and slugs are unique
// over all cells.
var ErrDemoElsewhere = errors.New("another cell has the demo creator; nothing was seeded")

// Demo is the demo creator's access, which can be shown only once.
type Demo struct {
	Email, Password, SecretKey, PaymentLink string
}

// Print explains how to use the seeded data, in lines that work as pasted.
func (d Demo) Print(w io.Writer, baseURL string) error {
	_, err := fmt.Fprintf(w, `
  Sundry's sandbox is ready: no real money moves here.

  Dashboard     %[1]s/dashboard
                %[2]s   password  %[3]s
  Reference     %[1]s/docs
  Secret key    %[4]s
  Payment link  %[5]s

  Read what is for sale, open a checkout session, read what a customer may use:

curl -s %[1]s/v1/catalog/listings/workshop-club/recipe -H 'Authorization: Bearer %[4]s'
curl -s -X POST %[1]s/v1/checkout-sessions -H 'Authorization: Bearer %[4]s' -H 'Content-Type: application/json' -d '{"catalog":{"listing":"workshop-club","plan":"member"},"externalCustomerId":"user-1","successUrl":"http://localhost:3000/welcome","cancelUrl":"http://localhost:3000/pricing"}'
curl -s %[1]s/v1/customer-access/user-1 -H 'Authorization: Bearer %[4]s'

  These are shown once. Pay with the test card 4242 4242 4242 4242, any future date, any code.

`, baseURL, d.Email, d.Password, d.SecretKey, d.PaymentLink)
	return err
}
