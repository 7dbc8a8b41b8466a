package cli

import "testing"

func TestListenAndTriggerRefuseWrongArguments(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no URL": {"--key", "k", "--forward-to", "nonsense"}, "a secret that is none": {"--key", "k", "--secret", "%"},
		"a flag that is none": {"--port", "1"}, "a word": {"--key", "k", "now"},
	} {
		if _, err := newListener(args); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for name, args := range map[string][]string{"no type": nil, "an unknown type": {"coffee.made", "--key", "k"},
		"two types": {"invoice.paid", "refund.created", "--key", "k"}} {
		if _, err := newTrigger(args); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestListenFiltersByTypeAndFamily(t *testing.T) {
	t.Parallel()
	l := listener{types: []string{"invoice.*", "refund.created"}}
	for event, want := range map[string]bool{"invoice.paid": true, "refund.created": true, "refund.failed": false,
		"invoices.x": false} {
		if l.wants(event) != want {
			t.Errorf("%s: %v", event, !want)
		}
	}
}
