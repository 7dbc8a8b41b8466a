package customer_test

import (
	"testing"

	"sundry/core/customer"
	"sundry/core/fault"
)

func TestOneRuleDecidesWhatAnEmailAddressIs(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"ada@example.com": true, "Ada+Books@Example.com": true, "ada@-x-.com": false, "ada@example": false,
		" ada@example.com":  false,
		"ada@example.com\n": false, "": false, "ada": false,
	} {
		var f fault.Violations
		if customer.ValidateEmail("email", address, &f); (f.Err() == nil) != want {
			t.Errorf("%q: %v", address, f.Err())
		}
	}
}

func TestACountryIsOneOfTheTable(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"IE": true, "": true, "ie": false, "XX": false, "IRL": false} {
		var f fault.Violations
		if (customer.Details{Address: customer.Address{Country: code}}).Validate(&f); (f.Err() == nil) != want {
			t.Errorf("%q: %v", code, f.Err())
		}
	}
}
