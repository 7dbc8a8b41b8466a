package listingtype_test

import (
	"testing"

	"sundry/core/listingtype"
	"sundry/core/tax"
)

func TestTypes_AreTaxedByTheirDelivery(t *testing.T) {
	t.Parallel()
	for kind, want := range map[listingtype.Type]tax.Category{
		"DIGITAL": tax.Electronic, "SUBSCRIPTION": tax.Electronic, "SERVICE": tax.Service, "APPOINTMENT": tax.Service,
		"": tax.Electronic,
	} {
		if got := kind.TaxCategory(); got != want {
			t.Errorf("%q is %s, want %s", kind, got, want)
		}
	}
}

func TestTypes_AreSoldInTheirWay(t *testing.T) {
	t.Parallel()
	for kind, want := range map[listingtype.Type]struct{ recurring, bookable bool }{
		"DIGITAL": {}, "SERVICE": {}, "SUBSCRIPTION": {recurring: true}, "APPOINTMENT": {bookable: true}, "": {},
	} {
		if kind.Recurring() != want.recurring || kind.Bookable() != want.bookable {
			t.Errorf("%q: recurring %t, bookable %t; want %+v", kind, kind.Recurring(), kind.Bookable(), want)
		}
	}
}

func TestRowsAreComplete(t *testing.T) {
	t.Parallel()
	for i, kind := range listingtype.All() {
		if got := listingtype.Names()[i]; got != string(kind) {
			t.Errorf("name %d is %s, want %s", i, got, kind)
		}
		if kind.Label() == "" || kind.Example() == "" || kind.Icon() == "" || kind.Metadata() == nil {
			t.Errorf("%s lacks a label, an example, an icon or its metadata", kind)
		}
	}
	unknown := listingtype.Type("BOAT")
	if unknown.Metadata() != nil || unknown.Label() != "" || unknown.Icon() != "digital" {
		t.Errorf("an unknown type has label %q, icon %q, metadata %v", unknown.Label(), unknown.Icon(), unknown.Metadata())
	}
}
