package strictjson_test

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"sundry/adapters/httpapi/strictjson"
)

func TestOneValueHasOneCanonicalSpelling(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"the order of members":   {`{"a":1,"b":{"c":2,"d":3}}`, `{"b":{"d":3,"c":2},"a":1}`, true},
		"blanks":                 {"{\"a\": [1, 2]}\n", `{"a":[1,2]}`, true},
		"escapes":                {`"\u00e9\/"`, `"é/"`, true},
		"zeros behind the point": {`1.0`, `1`, true},
		"an exponent":            {`1.5E+1`, `15`, true},
		"nothing in two signs":   {`-0.00`, `0e7`, true},
		"a number beyond every float": {
			`12345678901234567890.000000000001`, `12345678901234567890.000000000002`, false,
		},
		"the order of elements":             {`[1,2]`, `[2,1]`, false},
		"a number and its text":             {`{"a":1}`, `{"a":"1"}`, false},
		"a member that is null is not none": {`{"a":null}`, `{}`, false},
		"an exponent that is absurd":        {`1e99999999999`, `10e99999999998`, false},
		"the sign":                          {`-1`, `1`, false},
		"what is no JSON is its own":        {`{"a":1`, `{"a": 1`, false},
		"two documents are no JSON value":   {`{} {}`, `{}{}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := string(strictjson.Canonical([]byte(c.a))), string(strictjson.Canonical([]byte(c.b)))
			if (a == b) != c.same {
				t.Errorf("%s is %s, %s is %s", c.a, a, c.b, b)
			}
		})
	}
}

// A replay is recognized by what an earlier version has stored of the first request.
func TestCanonicalForm_Stays(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		` {"b":1.50,"a":[1, -0.0e5 ,{"y":null}] } `: `{"a":[1e0,0,{"y":null}],"b":15e-1}`,
		`{"a":1,"b":true,"\u0061":{}}`:              `{"a":{},"b":true}`,
		"{\"<&>\":\"é\\u00e9\\u2028\\/\\n\xff\"}":   `{"\u003c\u0026\u003e":"éé\u2028/\n�"}`,
		`"\\\""`: `"\\\""`,
	} {
		if got := string(strictjson.Canonical([]byte(body))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestTheCanonicalSpellingIsTheSameValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOf(rapid.String(), rapid.Int64()).Draw(t, "members")
		text, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		once := strictjson.Canonical(text)
		if twice := strictjson.Canonical(once); string(twice) != string(once) {
			t.Fatalf("%s, then %s", once, twice)
		}
		indented, err := json.MarshalIndent(members, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if other := strictjson.Canonical(indented); string(other) != string(once) {
			t.Fatalf("%s and %s", once, other)
		}
	})
}
