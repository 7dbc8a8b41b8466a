package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sundry/adapters/httpapi/strictjson"
	"sundry/core/fault"
)

type price struct {
	Interval *string `json:"interval"`
	Currency string  `json:"currency"`
	Amount   int64   `json:"amountInCents"`
}

type attribution struct {
	ReferenceID string            `json:"referenceId"`
	UTM         map[string]string `json:"utm"`
}

type request struct {
	attribution
	Email    string                      `json:"email"`
	Active   bool                        `json:"active"`
	Limit    int                         `json:"limit,omitempty"`
	Small    int8                        `json:"small"`
	Quantity json.Number                 `json:"quantity"`
	Prices   []price                     `json:"prices"`
	Metadata map[string]any              `json:"metadata"`
	Extra    json.RawMessage             `json:"extra"`
	Title    strictjson.Optional[string] `json:"title"`
	Plan     *price                      `json:"plan"`
	Value    any                         `json:"value"`
	Children []request                   `json:"children"`
	Hidden   string                      `json:"-"`
	private  string
}

type detail struct{ field, code string }

func faultsOf(t testing.TB, err error) (list []detail, messages string) {
	t.Helper()
	if err == nil {
		return nil, ""
	}
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != fault.ValidationFailed {
		t.Fatalf("not a validation fault: %v", err)
	}
	for _, d := range e.Details {
		list = append(list, detail{d.Field, d.Code})
		messages += d.Message + "\n"
	}
	return list, messages
}

func TestDecodeFillsEveryKindOfMember(t *testing.T) {
	t.Parallel()
	const body = ` {"referenceId":"r","utm":{"source":"a\nb"},"email":"é😀","active":true,"limit":-0,"small":-128,
		"quantity":12345678901234567890.120,"prices":[{"currency":"eur","amountInCents":-5,"interval":null},{"interval":"month"}],
		"metadata":{"s":"x","b":false,"n":1.50,"z":null,"l":[1,{"m":[]}],"":{}},"extra": {"a" : [1, 2.0]},
		"title":null,"plan":{"currency":"usd"},"value":null,"children":[{"children":[]}]} `
	var got request
	if err := strictjson.Decode([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	month := "month"
	want := request{
		attribution: attribution{ReferenceID: "r", UTM: map[string]string{"source": "a\nb"}},
		Email:       "é😀", Active: true, Small: -128, Quantity: "12345678901234567890.120",
		Prices: []price{{Currency: "eur", Amount: -5}, {Interval: &month}},
		Metadata: map[string]any{"s": "x", "b": false, "n": json.Number("1.50"), "z": nil,
			"l": []any{json.Number("1"), map[string]any{"m": []any{}}}, "": map[string]any{}},
		Extra:    json.RawMessage(`{"a" : [1, 2.0]}`),
		Title:    strictjson.Optional[string]{Set: true, Null: true},
		Plan:     &price{Currency: "usd"},
		Children: []request{{Children: []request{}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDecodeLeavesAbsentMembersAsTheyWere(t *testing.T) {
	t.Parallel()
	got := request{Email: "kept", Limit: 20, private: "own", Hidden: "own"}
	if err := strictjson.Decode([]byte(`{"limit":5}`), &got); err != nil {
		t.Fatal(err)
	}
	if want := (request{Email: "kept", Limit: 5, private: "own", Hidden: "own"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestOptionalTellsAbsentNullAndValueApart(t *testing.T) {
	t.Parallel()
	type patch struct {
		Title  strictjson.Optional[string]  `json:"title,omitzero"`
		Prices strictjson.Optional[[]price] `json:"prices,omitzero"`
	}
	for body, want := range map[string]patch{
		`{}`:             {},
		`{"title":null}`: {Title: strictjson.Optional[string]{Set: true, Null: true}},
		`{"title":""}`:   {Title: strictjson.Optional[string]{Set: true}},
		`{"title":"x","prices":null}`: {
			Title:  strictjson.Optional[string]{Set: true, Value: "x"},
			Prices: strictjson.Optional[[]price]{Set: true, Null: true},
		},
		`{"prices":[]}`: {Prices: strictjson.Optional[[]price]{Set: true, Value: []price{}}},
	} {
		var got, standard patch
		if err := strictjson.Decode([]byte(body), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s -> %+v, %v", body, got, err)
		}
		if err := json.Unmarshal([]byte(body), &standard); err != nil || !reflect.DeepEqual(standard, want) {
			t.Errorf("encoding/json: %s -> %+v, %v", body, standard, err)
		}
		if back, err := json.Marshal(want); err != nil || string(back) != body {
			t.Errorf("%s is written %s, %v", body, back, err)
		}
	}
	var p patch
	err := strictjson.Decode([]byte(`{"title":7,"prices":[{"amountInCents":null}]}`), &p)
	list, messages := faultsOf(t, err)
	if want := []detail{{"title", fault.DetailWrongType},
		{"prices[0].amountInCents", fault.DetailWrongType}}; !reflect.DeepEqual(list, want) {
		t.Errorf("faults %v", list)
	}
	if !strings.Contains(messages, "Expected a string, got a number.") {
		t.Error(messages)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	const (
		malformed = fault.DetailMalformed
		wrongType = fault.DetailWrongType
		unknown   = fault.DetailUnknownMember
		duplicate = fault.DetailDuplicate
		outside   = fault.DetailOutOfRange
	)
	document := []detail{{"body", malformed}}
	deep := func(n int) string {
		return `{"value":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	for name, c := range map[string]struct {
		body    string
		want    []detail
		message string
	}{
		"an empty body":         {"", []detail{{"body", fault.DetailRequired}}, "required"},
		"a body of white space": {" \r\n\t", []detail{{"body", fault.DetailRequired}}, "required"},
		"a byte order mark":     {"\ufeff{}", document, "line 1, column 1"},
		"an array where an object is wanted": {
			"[]", []detail{{"body", wrongType}}, "Expected an object, got an array.",
		},
		"null as the document": {"null", []detail{{"body", wrongType}}, "got null"},
		"a second value after the first": {
			"{}\n {}", document, "after the end of the JSON value at line 2, column 2",
		},
		"a NUL after the value":         {"{}\x00", document, "after the end"},
		"a body cut short":              {`{"email":"a`, document, "ends too early"},
		"a missing value":               {`{"email":}`, document, "line 1"},
		"a trailing comma in an object": {`{"email":"a",}`, document, "line 1"},
		"a trailing comma in an array":  {`{"prices":[{},]}`, document, "line 1"},
		"a wrong bracket":               {`{"prices":[{}}`, document, "line 1"},
		"a comment":                     {"{\n//no\n}", document, "line 2"},
		"single quotes":                 {`{'email':"a"}`, document, "line 1"},
		"NaN":                           {`{"limit":NaN}`, document, "line 1"},
		"a leading zero":                {`{"limit":01}`, document, "line 1"},
		"a plus sign":                   {`{"limit":+1}`, document, "line 1"},
		"a name that is no string":      {`{1:2}`, document, "line 1"},
		"a raw NUL in a string":         {"{\"email\":\"a\x00\"}", document, "line 1"},
		"a raw line end in a string":    {"{\"email\":\"a\n\"}", document, "line 1"},
		"invalid UTF-8 in a string": {
			"{\"email\":\"a\xff\"}", []detail{{"email", malformed}}, "not valid UTF-8",
		},
		"invalid UTF-8 beside an escape": {
			"{\"email\":\"\\n\xff\"}", []detail{{"email", malformed}}, "not valid UTF-8",
		},
		"UTF-8 spelled too long": {
			"{\"email\":\"\xc0\x80\"}", []detail{{"email", malformed}}, "not valid UTF-8",
		},
		"invalid UTF-8 in a name": {
			"{\"metadata\":{\"\xff\":1}}", []detail{{`metadata["\xff"]`, malformed}}, "not valid UTF-8",
		},
		"an escaped NUL": {`{"email":"a\u0000"}`, []detail{{"email", malformed}}, "NUL"},
		"an escaped NUL in a name": {
			`{"metadata":{"a\u0000":1}}`, []detail{{`metadata["a\x00"]`, malformed}}, "NUL",
		},
		"an escaped NUL deep inside any value": {
			`{"metadata":{"a":[0,{"b":"\u0000"}]}}`, []detail{{"metadata.a[1].b", malformed}}, "NUL",
		},
		"an escaped NUL in a raw member": {`{"extra":["\u0000"]}`, []detail{{"extra[0]", malformed}}, "NUL"},
		"a lone high surrogate":          {`{"email":"\ud83d"}`, []detail{{"email", malformed}}, "surrogate"},
		"a lone low surrogate": {
			`{"utm":{"a":"x\ude00y"}}`, []detail{{"utm.a", malformed}}, "surrogate",
		},
		"surrogates in the wrong order": {
			`{"value":"\ude00\ud83d"}`, []detail{{"value", malformed}}, "surrogate",
		},
		"a member twice": {
			`{"email":"a","email":"b"}`, []detail{{"email", duplicate}}, "more than once",
		},
		"a member twice in different spelling": {
			`{"email":"a","\u0065mail":"b"}`, []detail{{"email", duplicate}}, "more than once",
		},
		"a map key twice": {
			`{"utm":{"a":"1","a":"2"}}`, []detail{{"utm.a", duplicate}}, "more than once",
		},
		"a member of a free value twice": {
			`{"metadata":{"m":{"a":1,"a":1}}}`, []detail{{"metadata.m.a", duplicate}}, "more than once",
		},
		"a member of a raw member twice": {
			`{"extra":{"a":1,"a":1}}`, []detail{{"extra.a", duplicate}}, "more than once",
		},
		"an unknown member": {
			`{"color":"red"}`, []detail{{"color", unknown}}, "This object has no such member.\n",
		},
		"a name in another case": {
			`{"Email":"a"}`, []detail{{"Email", unknown}}, `Did you mean "email"?`,
		},
		"a name in snake case": {
			`{"prices":[{"amount_in_cents":1}]}`, []detail{{"prices[0].amount_in_cents", unknown}},
			`Did you mean "amountInCents"?`,
		},
		"a mistyped name": {
			`{"prices":[{"curency":"eur"}]}`, []detail{{"prices[0].curency", unknown}}, `Did you mean "currency"?`,
		},
		"a name hidden from JSON": {
			`{"Hidden":"x","private":"y"}`, []detail{{"Hidden", unknown}, {"private", unknown}}, "no such member",
		},
		"the name of an embedded struct": {
			`{"attribution":{}}`, []detail{{"attribution", unknown}}, "no such member",
		},
		"an empty name": {`{"":1}`, []detail{{`[""]`, unknown}}, "no such member"},
		"a name that looks like a path": {
			`{"prices[0].currency":1}`, []detail{{`["prices[0].currency"]`, unknown}}, "no such member",
		},
		"a string for an integer": {
			`{"limit":"1"}`, []detail{{"limit", wrongType}}, "Expected an integer, got a string.",
		},
		"a string for a number": {
			`{"quantity":"1"}`, []detail{{"quantity", wrongType}}, "Expected a number, got a string.",
		},
		"a number for a bool": {
			`{"active":1}`, []detail{{"active", wrongType}}, "Expected true or false, got a number.",
		},
		"true for a string": {
			`{"email":true}`, []detail{{"email", wrongType}}, "Expected a string, got true.",
		},
		"null for a string": {
			`{"email":null}`, []detail{{"email", wrongType}}, "Expected a string, got null.",
		},
		"null for an array": {
			`{"prices":null}`, []detail{{"prices", wrongType}}, "Expected an array, got null.",
		},
		"null for a map": {
			`{"utm":null}`, []detail{{"utm", wrongType}}, "Expected an object, got null.",
		},
		"a number in a map of strings": {
			`{"utm":{"a":1}}`, []detail{{"utm.a", wrongType}}, "Expected a string, got a number.",
		},
		"an array for a pointer": {
			`{"plan":[]}`, []detail{{"plan", wrongType}}, "Expected an object, got an array.",
		},
		"a fraction for an integer":  {`{"limit":1.0}`, []detail{{"limit", wrongType}}, "fraction"},
		"an exponent for an integer": {`{"limit":1e2}`, []detail{{"limit", wrongType}}, "exponent"},
		"an integer beyond 64 bits": {
			`{"prices":[{"amountInCents":9223372036854775808}]}`, []detail{{"prices[0].amountInCents", outside}},
			"to 9223372036854775807.",
		},
		"an integer beyond its member's range": {`{"small":-129}`, []detail{{"small", outside}}, "from -128 to 127."},
		"33 levels": {
			deep(32), []detail{{"value" + strings.Repeat("[0]", 31), malformed}}, "32 deep",
		},
		"33 levels of an unknown member": {
			strings.Repeat(`{"x":`, 33) + "1" + strings.Repeat("}", 33),
			[]detail{{"x", unknown}, {"x" + strings.Repeat(".x", 31), malformed}}, "32 deep",
		},
		"a bracket for every byte": {
			strings.Repeat("[", 1<<20),
			[]detail{{"body", wrongType}, {strings.Repeat("[0]", 32), malformed}, {"body", malformed}}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got request
			list, messages := faultsOf(t, strictjson.Decode([]byte(c.body), &got))
			if !reflect.DeepEqual(list, c.want) {
				t.Errorf("faults %v\nwant   %v", list, c.want)
			}
			if !strings.Contains(messages, c.message) {
				t.Errorf("no %q in:\n%s", c.message, messages)
			}
		})
	}
	if err := strictjson.Decode([]byte(deep(31)), &request{}); err != nil {
		t.Errorf("32 levels are refused: %v", err)
	}
}

func TestDecodeListsEveryFaultInTheOrderOfTheDocument(t *testing.T) {
	t.Parallel()
	const body = `{"email":1,"prices":[{"currency":2},7,{"amountInCents":1.5,"x":{"y":1,"y":2}}],"email":"again",
		"emial":"\u0000","utm":{"a":[],"b":"fine"},"limit":99999999999999999999} trailing`
	want := []detail{
		{"email", fault.DetailWrongType}, {"prices[0].currency", fault.DetailWrongType},
		{"prices[1]", fault.DetailWrongType},
		{"prices[2].amountInCents", fault.DetailWrongType}, {"prices[2].x", fault.DetailUnknownMember},
		{"prices[2].x.y", fault.DetailDuplicate}, {"email", fault.DetailDuplicate},
		{"emial", fault.DetailUnknownMember},
		{"emial", fault.DetailMalformed}, {"utm.a", fault.DetailWrongType}, {"limit", fault.DetailOutOfRange},
		{"body", fault.DetailMalformed},
	}
	if list, _ := faultsOf(t, strictjson.Decode([]byte(body), &request{})); !reflect.DeepEqual(list, want) {
		t.Errorf("faults %v\nwant   %v", list, want)
	}
	list, _ := faultsOf(t, strictjson.Decode([]byte(`{"email":1,"active":2,"limit":}`), &request{}))
	if want := []detail{{"email", fault.DetailWrongType}, {"active", fault.DetailWrongType},
		{"body", fault.DetailMalformed}}; !reflect.DeepEqual(list, want) {
		t.Errorf("faults before a syntax error: %v", list)
	}
}

func TestDecodeRespondsToAHostileBodyWithLittle(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	body.WriteString("{")
	for i := range 100000 {
		fmt.Fprintf(&body, "%q:0,", fmt.Sprint("m", i))
	}
	body.WriteString(`"` + strings.Repeat("é", 100000) + `":0}`)
	list, messages := faultsOf(t, strictjson.Decode([]byte(body.String()), &request{}))
	if len(list) != 257 || !strings.Contains(messages, "the first 256") {
		t.Errorf("%d faults", len(list))
	}
	list, _ = faultsOf(t, strictjson.Decode([]byte(`{"a`+strings.Repeat("é", 1000)+`":0}`), &request{}))
	if len(list) != 1 || list[0].field != `["a`+strings.Repeat("é", 31)+`…"]` {
		t.Errorf("a long name is repeated as %v", list)
	}
}

func TestDecodePanicsOnTargetsThatCannotBeFilled(t *testing.T) {
	t.Parallel()
	for name, into := range map[string]any{
		"no pointer":    request{},
		"a nil pointer": (*request)(nil),
		"a float":       new(float64),
		"bytes":         new([]byte),
		"no json name":  &struct{ Name string }{},
		"a name twice": &struct {
			attribution
			Again string `json:"utm"`
		}{},
		"a channel in a list": new([]chan int),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = strictjson.Decode([]byte("{}"), into)
		})
	}
}
