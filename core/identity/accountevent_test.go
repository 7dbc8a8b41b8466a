package identity_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"sundry/core/event"
	"sundry/core/identity"
)

func TestBySelf_OfWhatProvesWhoSomebodyIs(t *testing.T) {
	t.Parallel()
	self := []identity.AccountEventKind{"signed_up", "signed_in", "signed_out_everywhere", "password_changed",
		"password_reset", "member_joined", "recovery_code_used"}
	all := identity.AccountEventKinds()
	for i, kind := range all {
		if got, want := kind.BySelf(), slices.Contains(self, kind); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		if slices.Contains(all[:i], kind) {
			t.Errorf("%s is listed twice", kind)
		}
	}
}

// A kind that is not listed can't be selected in the access log.
func TestAccountEventKinds_HasEveryConstant(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "accountevent.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var want []identity.AccountEventKind
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "AccountEventKind" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Error(err)
				}
				want = append(want, identity.AccountEventKind(text))
			}
		}
		return true
	})
	got := identity.AccountEventKinds()
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("listed are %q, want %q", got, want)
	}
}

func TestEventsAreNamed(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]event.Event{
		"account.audited": identity.Audited{}, "identity.member_invited": identity.MemberInvitationMade{},
		"identity.second_step_changed": identity.SecondStepChanged{},
	} {
		if got := e.EventName(); got != want {
			t.Errorf("%T is named %s, want %s", e, got, want)
		}
	}
}
