package contract_test

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v76/webhook"

	"sundry/adapters/encrypter"
	"sundry/adapters/ical"
	"sundry/adapters/imaging"
	"sundry/adapters/pdf"
	"sundry/adapters/sandboxpay"
	"sundry/adapters/stripepay"
	"sundry/adapters/taxtable"
	"sundry/adapters/vies"
	"sundry/core/fault"
	"sundry/core/id"
	"sundry/core/money"
	"sundry/core/secret"
	"sundry/core/tax"
	"sundry/ports"
	"sundry/tests/contract"
	"sundry/tests/stripefake"
	"sundry/tests/testdb"
)

func TestPayoutRails(t *testing.T) {
	t.Parallel()
	t.Run("sandbox", func(t *testing.T) {
		t.Parallel()
		contract.PayoutRail(t, func(*testing.T) contract.PayoutRailFixture {
			return contract.PayoutRailFixture{Rail: sandboxpay.Rail{}}
		})
	})
	t.Run("stripe", func(t *testing.T) {
		t.Parallel()
		contract.PayoutRail(t, func(t *testing.T) contract.PayoutRailFixture {
			t.Helper()
			fake := stripefake.New(t)
			rail := stripepay.NewRail(stripepay.New(stripepay.Config{SecretKey: "sk_test_1", APIBase: fake.URL}))
			return contract.PayoutRailFixture{
				Rail: rail, Payouts: rail,
				Sent: func() int { return fake.Count("POST /v1/transfers") },
			}
		})
	})
}

func TestEventVerifiers(t *testing.T) {
	t.Parallel()
	t.Run("sandbox", func(t *testing.T) {
		t.Parallel()
		contract.EventVerifier(t, func(*testing.T) contract.EventFixture {
			secret := []byte("secret")
			return contract.EventFixture{
				Verifier: sandboxpay.NewEvents(secret, nil, nil, nil),
				Payload:  []byte(`{"id":"evt_1","kind":"payment","objectId":"pay_1","creatorId":"crt_1"}`),
				Sign: func(payload []byte, at time.Time) string {
					mac := hmac.New(sha256.New, secret)
					_, _ = fmt.Fprintf(mac, "%d.%s", at.Unix(), payload)
					return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
				},
			}
		})
	})
	t.Run("stripe", func(t *testing.T) {
		t.Parallel()
		contract.EventVerifier(t, func(*testing.T) contract.EventFixture {
			return contract.EventFixture{
				Verifier: stripepay.New(stripepay.Config{WebhookSecret: "whsec_1"}),
				Payload: []byte(`{"id":"evt_1","type":"payment_intent.succeeded","data":{"object":{"id":"pi_1","metadata":` +
					`{"payment_id":"pay_01h00000000000000000000000","creator_id":"crt_1"}}}}`),
				Ignored: []byte(`{"id":"evt_2","type":"price.created","data":{"object":{"id":"price_1"}}}`),
				Sign: func(payload []byte, at time.Time) string {
					return webhook.GenerateTestSignedPayload(
						&webhook.UnsignedPayload{Payload: payload, Secret: "whsec_1", Timestamp: at},
					).Header
				},
			}
		})
	})
}

func TestDisputeProcessors(t *testing.T) {
	t.Parallel()
	t.Run("stripe", func(t *testing.T) {
		t.Parallel()
		contract.Disputes(t, func(t *testing.T) contract.DisputeFixture {
			t.Helper()
			fake := stripefake.New(t)
			processor := stripepay.New(stripepay.Config{SecretKey: "sk_test_1", APIBase: fake.URL})
			return contract.DisputeFixture{Disputes: processor, Open: func(t *testing.T) string {
				t.Helper()
				paid := charge(t, processor, "ctoken_"+stripefake.Succeeds)
				id := fake.Dispute(paid, 1250)
				fake.Change(id, map[string]any{"status": "needs_response"})
				return id
			}}
		})
	})
	testdb.EachEngine(t, func(t *testing.T, engine testdb.Engine) {
		contract.Disputes(t, func(t *testing.T) contract.DisputeFixture {
			t.Helper()
			processor := sandboxpay.New(engine.Open(t))
			return contract.DisputeFixture{Disputes: processor, Open: func(t *testing.T) string {
				t.Helper()
				var f fault.Violations
				paid := charge(t, processor, processor.Method(ports.CardInput{Number: "4000000000000259"}, &f))
				return "dp_sandbox_" + id.Body(paid)
			}}
		})
	})
}

// charge makes a payment of 12.50 and returns its id.
func charge(t *testing.T, p ports.Processor, method string) string {
	t.Helper()
	paymentID := "pay_" + rand.Text()
	_, err := p.Charge(t.Context(), ports.ChargeRequest{
		PaymentID: paymentID, SubjectID: "cs_1", CreatorID: "crt_1", Method: method,
		Amount: money.Amount{Minor: 1250, Currency: "eur"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return paymentID
}

func TestTaxCalculators(t *testing.T) {
	t.Parallel()
	t.Run("table", func(t *testing.T) {
		t.Parallel()
		taxes, err := taxtable.New("IE")
		if err != nil {
			t.Fatal(err)
		}
		contract.Taxes(t, taxes.Calculate)
	})
	t.Run("stripe", func(t *testing.T) {
		t.Parallel()
		fake := stripefake.New(t)
		taxes := stripepay.NewTaxes(stripepay.New(stripepay.Config{SecretKey: "sk_test_1", APIBase: fake.URL}), time.Now)
		contract.Taxes(t, func(ctx context.Context, s tax.Sale) (tax.Result, error) {
			result, err := taxes.Calculate(ctx, s)
			var missing *ports.PrefetchError
			if !errors.As(err, &missing) {
				return result, err
			}
			if err := missing.Fetch(ctx); err != nil {
				return tax.Result{}, err
			}
			return taxes.Calculate(ctx, s)
		})
	})
}

func TestVATRegisterVIES(t *testing.T) {
	t.Parallel()
	const registered = "DE136695976"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ CountryCode, VATNumber string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		if asked.CountryCode == "FR" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintf(
			w, `{"countryCode":%q,"vatNumber":%q,"requestDate":"2026-11-22T12:59:58Z","valid":%t,"requestIdentifier":"W1"}`,
			asked.CountryCode, asked.VATNumber, asked.CountryCode+asked.VATNumber == registered,
		)
	}))
	t.Cleanup(server.Close)
	contract.VATRegister(t, vies.New(vies.Config{APIBase: server.URL}, time.Now), registered)
}

func TestDocumentsPDF(t *testing.T) {
	t.Parallel()
	contract.Documents(t, pdf.New())
}

func TestCalendarsICal(t *testing.T) {
	t.Parallel()
	contract.Calendars(t, ical.Calendars{}, ical.Calendars{})
}

func TestEncrypters(t *testing.T) {
	t.Parallel()
	contract.Encrypter(t, func() ports.Encrypter {
		key := make([]byte, 32)
		_, _ = rand.Read(key)
		made := encrypter.New(secret.Fixed(key))
		return made
	})
}

func TestImageDecoders(t *testing.T) {
	t.Parallel()
	contract.ImageDecoder(t, imaging.New())
}
