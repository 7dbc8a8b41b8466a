package locale_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/core/locale"
	"sundry/core/money"
)

var (
	american = locale.Default
	british  = locale.Locale{Language: "en", Region: "GB"}
	german   = locale.Locale{Language: "de", Region: "AT"}
	french   = locale.Locale{Language: "fr"}
)

func TestMoneyIsWrittenAsTheReaderWritesIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reader locale.Locale
		amount money.Amount
		want   string
	}{
		{american, money.Amount{Minor: 123456, Currency: "usd"}, "$1,234.56"},
		{american, money.Amount{Minor: 1200, Currency: "eur"}, "€12.00"},
		{american, money.Amount{Minor: 1200, Currency: "jpy"}, "¥1,200"},
		{american, money.Amount{Minor: 100050, Currency: "chf"}, "CHF\u00a01,000.50"},
		{american, money.Amount{Minor: -99, Currency: "usd"}, "−$0.99"},
		{american, money.Amount{Minor: 12345678, Currency: "usd"}, "$123,456.78"},
		{american, money.Amount{Minor: 0, Currency: "usd"}, "$0.00"},
		{american, money.Amount{Minor: 1, Currency: "kwd"}, "KWD\u00a00.001"},
		{american, money.Amount{Minor: -1 << 63, Currency: "gbp"}, "−£92,233,720,368,547,758.08"},
		{german, money.Amount{Minor: 123456, Currency: "eur"}, "1.234,56\u00a0€"},
		{german, money.Amount{Minor: 999, Currency: "chf"}, "9,99\u00a0CHF"},
		{french, money.Amount{Minor: 123456789, Currency: "eur"}, "1\u202f234\u202f567,89\u00a0€"},
	} {
		if got := c.reader.Money(c.amount); got != c.want {
			t.Errorf("%+v for %s: %q, want %q", c.amount, c.reader.Tag(), got, c.want)
		}
	}
}

func TestDatesAndTimesAreWrittenAsTheReaderWritesThem(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 1, 14, 5, 0, 0, time.UTC)
	for name, c := range map[string]struct{ got, want string }{
		"an American date":      {american.Date(at), "June 1, 2026"},
		"an American day":       {american.Day(at), "Monday, June 1, 2026"},
		"an American clock":     {american.Clock(at), "2:05 PM"},
		"an American moment":    {american.Moment(at), "June 1, 2026, 2:05 PM UTC"},
		"a moment elsewhere":    {american.Moment(at.In(time.FixedZone("", -20*3600))), "June 1, 2026, 2:05 PM UTC"},
		"a British day":         {british.Day(at), "Monday, 1 June 2026"},
		"a British clock":       {british.Clock(at), "14:05"},
		"a German day":          {german.Day(at), "Montag, 1. Juni 2026"},
		"a French first":        {french.Day(at), "lundi 1er juin 2026"},
		"a French second":       {french.Day(at.AddDate(0, 0, 1)), "mardi 2 juin 2026"},
		"hours of one day":      {american.Hours(at, at.Add(time.Hour)), "2:05 PM – 3:05 PM UTC"},
		"hours over a midnight": {british.Hours(at, at.Add(10*time.Hour)), "14:05 – Tuesday, 2 June 2026, 00:05 UTC"},
		"a month":               {american.Interval("month", 1), "per month"},
		"three months":          {american.Interval("month", 3), "every 3 months"},
		"a billed year":         {american.Billed("year", 1), "Billed yearly"},
		"one day":               {american.Days(1), "1 day"},
		"a fortnight":           {american.Days(14), "14 days"},
		"an hour":               {american.Minutes(60), "60 minutes"},
		"the zero value":        {locale.Locale{}.Date(at), "June 1, 2026"},
		"a short date":          {american.ShortDate(at.AddDate(0, 2, 0)), "Aug 1, 2026"},
		"a British short date":  {british.ShortDate(at.AddDate(0, 2, 0)), "1 Aug 2026"},
		"a German short date":   {german.ShortDate(at.AddDate(0, 2, 0)), "1. Aug. 2026"},
		"a French short date":   {french.ShortDate(at.AddDate(0, 1, 1)), "2 juil. 2026"},
		"a short day":           {american.ShortDay(at.AddDate(0, 2, 0)), "Aug 1"},
		"a French short day":    {french.ShortDay(at), "1er juin"},
		"a German month":        {german.Month(at.AddDate(0, -3, 0)), "März 2026"},
		"a French short month":  {french.ShortMonth(at.AddDate(0, 1, 0)), "juil."},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

func TestHoursNameBothZonesWhenTheClocksChangeInBetween(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 3, 8, 6, 30, 0, 0, time.UTC).In(zone)
	if got, want := british.Hours(from, from.Add(time.Hour)), "01:30 EST (UTC−5) – 03:30 EDT (UTC−4)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAZoneIsNamedByItsOffsetUnlessItHasAName(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 1, 14, 5, 0, 0, time.UTC)
	for zone, want := range map[*time.Location]string{
		time.UTC: "UTC", time.FixedZone("EDT", -4*3600): "EDT (UTC−4)", time.FixedZone("-03", -3*3600): "UTC−3",
		time.FixedZone("+0545", 5*3600+45*60): "UTC+5:45", time.FixedZone("", 3600): "UTC+1",
	} {
		if got := locale.ZoneName(at.In(zone)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestALocaleIsReadFromAcceptLanguage(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]locale.Locale{
		"":                             {Language: "en", Hour12: true},
		"en-US,en;q=0.9":               {Language: "en", Region: "US", Hour12: true},
		"en-GB":                        {Language: "en", Region: "GB"},
		"de-AT,de;q=0.9":               {Language: "de", Region: "AT"},
		"fr;q=0.5, de;q=0.8":           {Language: "de"},
		"en;q=0.9, fr-CA;q=0.8":        {Language: "en", Region: "CA", Hour12: true},
		"sv-SE,sv;q=0.9,en;q=0.5":      {Language: "en", Region: "SE"},
		"de;0.1,fr":                    {Language: "de"},
		"zh-Hant-TW":                   {Language: "en", Region: "TW"},
		"-,;;--x-ZZ;q=x":               {Language: "en", Hour12: true},
		"fr-FR;q=0.9,de-DE;q=nonsense": {Language: "de", Region: "DE"},
	} {
		if got := locale.Parse(header); got != want {
			t.Errorf("%q: %+v, want %+v", header, got, want)
		}
	}
}

func TestTheRegionIsGuessedOnlyFromOneThatIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ header, want string }{
		"a region":                   {"de-AT,de;q=0.9", "AT"},
		"the first region counts":    {"en;q=0.9, fr-CA;q=0.8, en-US;q=0.7", "CA"},
		"a script before the region": {"zh-Hant-TW", "TW"},
		"no region":                  {"de,en;q=0.5", ""},
		"a script alone":             {"zh-Hant", ""},
		"nothing":                    {"", ""},
		"nonsense":                   {"-,;;--x-ZZ", ""},
	} {
		if got := locale.RegionOf(c.header); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestEveryLocaleHasAPatternThatWritesTheSame(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 14, 5, 0, 0, time.UTC)
	for _, header := range []string{"", "en-US", "en-GB", "en-AU", "de", "de-CH", "fr-CA", "sv-SE", "en-PH", "ar-EG"} {
		l := locale.Parse(header)
		p := l.Pattern()
		if !slices.Contains(locale.Patterns(), p) {
			t.Errorf("%q: pattern %+v is not among them", header, p)
		}
		if l.Moment(at) != p.Moment(at) || l.Text("brand") != p.Text("brand") {
			t.Errorf("%q: %s, by its pattern %s", header, l.Moment(at), p.Moment(at))
		}
	}
}

func TestAnUnknownKeyShowsItself(t *testing.T) {
	t.Parallel()
	if locale.Has("no.such.key") || !locale.Has("js.retry") {
		t.Error("a key that there is and one that there is not are taken for each other")
	}
	if _, all := american.WithPrefix("js.")["brand"]; all {
		t.Error("a text without the prefix has come along")
	}
	if got := german.Text("no.such.key"); got != "no.such.key" {
		t.Errorf("%q", got)
	}
	if got := american.WithPrefix("js.")["retry"]; got != "Try again" {
		t.Errorf("%q", got)
	}
}

var verb = regexp.MustCompile(`%(\[(\d)\])?[sd]`)

// A translation takes the values that the English text takes.
func TestTranslationsTakeTheSameValues(t *testing.T) {
	t.Parallel()
	if keys := locale.Keys(); len(keys) < 500 || slices.ContainsFunc(keys, func(key string) bool {
		return !locale.Has(key)
	}) {
		t.Fatalf("%d keys: not those of the English texts", len(keys))
	}
	for _, language := range locale.Languages() {
		l := locale.Locale{Language: language}
		for _, key := range locale.Keys() {
			english, own := american.Text(key), l.Text(key)
			if len(verb.FindAllString(english, -1)) != len(verb.FindAllString(own, -1)) || strings.Contains(own, "%!") {
				t.Errorf("%s %s: %q against %q", language, key, own, english)
			}
		}
	}
}

// French sets a space before some marks, which must not begin a line.
func TestFrenchMarksStayWithTheirWord(t *testing.T) {
	t.Parallel()
	alone, french := regexp.MustCompile(`\S [:;!?»]( |$)|« `), locale.Locale{Language: "fr"}
	for _, key := range locale.Keys() {
		if text := french.Text(key); text != american.Text(key) && alone.MatchString(text) {
			t.Errorf("%s: %q", key, text)
		}
	}
}

// toCreators are the mails to creators, whose dashboard is in English.
var toCreators = []string{"endpoint", "password", "confirmation", "order", "dispute", "payout", "payout_failed",
	"creator_refund_failed"}

// What a buyer sees is complete in every language.
func TestBuyersReadTheirOwnLanguageThroughout(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"de", "fr"} {
		for _, area := range []string{"common", "checkout", "appointment", "receipt", "invoice", "document", "portal",
			"decline"} {
			if missing := locale.Missing(language, area); len(missing) > 0 {
				t.Errorf("%s/%s.json lacks %s", language, area, strings.Join(missing, ", "))
			}
		}
		for _, key := range locale.Missing(language, "mail") {
			_, area, _ := strings.Cut(key, ".")
			area, _, _ = strings.Cut(area, ".")
			if !slices.Contains(toCreators, area) {
				t.Errorf("%s/mail.json lacks %s", language, key)
			}
		}
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	missing := locale.Missing("it", "common")
	if len(missing) == 0 || !slices.IsSorted(missing) || slices.ContainsFunc(missing, func(key string) bool {
		return !locale.Has(key)
	}) {
		t.Errorf("Italian lacks %q", missing)
	}
	if got := locale.Missing("de", "poems"); len(got) != 1 || !strings.HasPrefix(got[0], "poems.json: ") ||
		!strings.Contains(got[0], "does not exist") {
		t.Errorf("a file that there is not: %q", got)
	}
}

func TestALocaleSurvivesBeingStored(t *testing.T) {
	t.Parallel()
	for _, l := range []locale.Locale{american, british, german, french, {Language: "en", Region: "US"},
		{Language: "de", Region: "DE", Hour12: true}} {
		if got := locale.ParseTag(l.Full()); got != l {
			t.Errorf("%s comes back as %+v, want %+v", l.Full(), got, l)
		}
	}
	if got := locale.ParseTag("de-AT"); got != german {
		t.Errorf("a plain tag is %+v", got)
	}
	if got := locale.ParseTag("en-US"); got != american || french.Tag() != "fr" || german.Tag() != "de-AT" {
		t.Errorf("a plain tag is %+v; %s and %s", got, french.Tag(), german.Tag())
	}
	if got := german.WithClock("12"); !got.Hour12 || got.Region != "AT" {
		t.Errorf("with 12 hours it is %+v", got)
	}
	for tag, want := range map[string][2]bool{"en-US-u-hc-h12": {true, true}, "en-US-u-hc-h23": {false, true},
		"en-US": {false, false}} {
		if hour12, ok := locale.ClockOf(tag); hour12 != want[0] || ok != want[1] {
			t.Errorf("the clock of %s: %v, %v", tag, hour12, ok)
		}
	}
	if got := american.WithClock("24").WithClock("x"); got.Hour12 || got.Region != "US" {
		t.Errorf("with 24 hours it is %+v", got)
	}
}
