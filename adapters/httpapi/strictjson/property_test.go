package strictjson_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"sundry/adapters/httpapi/strictjson"
)

// standard decodes as the library everybody knows does, numbers kept as they are written.
func standard(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(into)
}

func FuzzDecodeAgreesWithEncodingJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, ``, `{"email":"a@b.c","active":true,"limit":3,"small":-1,"quantity":1.50}`,
		`{"prices":[{"currency":"eur","amountInCents":1200,"interval":null}],"plan":null,"title":null}`,
		`{"utm":{"a":"\ud83d\ude00"},"metadata":{"a":[1,null,{"b":"c"}]},"extra": [1 ,2] ,"value":{"x":[true]}}`,
		`{"children":[{"children":[{"email":""}]}],"title":"t"}`, `{"email":"\u0000","Email":1}`,
		`{"metadata":{"":{"\\":"\/"}}} x`, `{"limit":-0,"quantity":-0.0e+10}`, `{"email":}`, `{"prices":[}`, `{,}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var got, want request
		before := bytes.Clone(body)
		err := strictjson.Decode(body, &got)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was changed")
		}
		if err != nil {
			if list, _ := faultsOf(t, err); len(list) == 0 {
				t.Fatal("refused without a fault")
			}
			return
		}
		if err := standard(body, &want); err != nil {
			t.Fatalf("accepted, yet encoding/json reports %v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

func TestWhatIsMarshalledDecodesBack(t *testing.T) {
	t.Parallel()
	text := rapid.StringOf(rapid.Rune().Filter(func(r rune) bool { return r != 0 }))
	number := rapid.Custom(func(t *rapid.T) json.Number {
		return json.Number(
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,12})?(e[+-]?[0-9]{1,3})?`).Draw(t, "number"),
		)
	})
	var free func(depth int) *rapid.Generator[any]
	free = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{
			rapid.Just[any](nil), text.AsAny(), rapid.Bool().AsAny(), number.AsAny(),
		}
		if depth > 0 {
			inner := free(depth - 1)
			leaves = append(leaves, rapid.SliceOfN(inner, 0, 4).AsAny(), rapid.MapOfN(text, inner, 0, 4).AsAny())
		}
		return rapid.OneOf(leaves...)
	}
	prices := rapid.Custom(func(t *rapid.T) price {
		return price{
			Interval: rapid.Ptr(text, true).Draw(t, "interval"), Currency: text.Draw(t, "currency"),
			Amount: rapid.Int64().Draw(t, "amount"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := request{
			attribution: attribution{
				ReferenceID: text.Draw(t, "reference"), UTM: rapid.MapOf(text, text).Draw(t, "utm"),
			},
			Email: text.Draw(t, "email"), Active: rapid.Bool().Draw(t, "active"), Limit: rapid.Int().Draw(t, "limit"),
			Small: rapid.Int8().Draw(t, "small"), Quantity: number.Draw(t, "quantity"),
			Prices:   rapid.SliceOf(prices).Draw(t, "prices"),
			Metadata: rapid.MapOf(text, free(4)).Draw(t, "metadata"), Value: free(3).Draw(t, "value"),
			Plan: rapid.Ptr(prices, true).Draw(t, "plan"), Children: []request{},
		}
		extra, err := json.Marshal(free(3).Draw(t, "extra"))
		if err != nil {
			t.Fatal(err)
		}
		want.Extra = extra
		if title := rapid.Ptr(text, true).Draw(t, "title"); title != nil {
			want.Title = strictjson.Optional[string]{Set: true, Value: *title}
		} else {
			want.Title = strictjson.Optional[string]{Set: true, Null: true}
		}
		body, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got request
		if err := strictjson.Decode(body, &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot  %+v\nwant %+v", body, got, want)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	type session struct {
		Catalog struct {
			Listing  string `json:"listing"`
			Plan     string `json:"plan"`
			Interval string `json:"interval"`
		} `json:"catalog"`
		ExternalCustomerID string            `json:"externalCustomerId"`
		Email              string            `json:"email"`
		SuccessURL         string            `json:"successUrl"`
		CancelURL          string            `json:"cancelUrl"`
		UIMode             *string           `json:"uiMode"`
		DiscountCode       string            `json:"discountCode"`
		ReferenceID        string            `json:"referenceId"`
		Metadata           map[string]string `json:"metadata"`
		Quantity           int64             `json:"quantity"`
		Trial              bool              `json:"trial"`
		Slots              []string          `json:"slots"`
	}
	body := []byte(`{"catalog":{"listing":"field-notes","plan":"pro","interval":"month"},"externalCustomerId":"user_8812",
		"email":"ada@example.com","successUrl":"https://app.example.com/done?session={CHECKOUT_SESSION_ID}",
		"cancelUrl":"https://app.example.com/pricing","uiMode":"embedded","discountCode":"SPRING","referenceId":"order-77",
		"metadata":{"team":"blue","seat":"12"},"quantity":3,"trial":false,"slots":["2026-03-08T09:00:00Z"]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var s session
		if err := strictjson.Decode(body, &s); err != nil {
			b.Fatal(err)
		}
	}
}
