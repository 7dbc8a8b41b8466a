package contract_test

import (
	"testing"
	"time"

	"sundry/adapters/stripepay"
	"sundry/tests/contract"
	"sundry/tests/stripefake"
)

func TestProcessorStripe(t *testing.T) {
	t.Parallel()
	contract.Processor(t, func(t *testing.T) contract.ProcessorFixture {
		t.Helper()
		fake := stripefake.New(t)
		fake.Linger(5 * time.Millisecond)
		// A card that times out is charged, and its response is lost, every time that it is asked for.
		fake.LoseResponsesTo(stripefake.TimesOut)
		processor := stripepay.New(stripepay.Config{SecretKey: "sk_test_1", APIBase: fake.URL})
		return contract.ProcessorFixture{
			Processor: processor, Charges: processor, CreatorID: "crt_1",
			Cards: contract.ProcessorCards{
				Succeeds: "ctoken_" + stripefake.Succeeds, Declines: "ctoken_" + stripefake.Declines,
				Challenges: "ctoken_" + stripefake.Challenges, PresentOnly: "ctoken_" + stripefake.PresentOnly,
				TimesOut: "ctoken_" + stripefake.TimesOut,
			},
			Challenge: func(t *testing.T, paymentID string, approve bool) {
				t.Helper()
				fake.Challenge(t, paymentID, approve)
			},
			Refunded: func(_ *testing.T, paymentID string) int64 { return fake.Refunded(paymentID) },
		}
	})
}
