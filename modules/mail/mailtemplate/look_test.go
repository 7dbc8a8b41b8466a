package mailtemplate

import (
	"regexp"
	"strings"
	"testing"

	"sundry/core/locale"
)

func TestAMailLooksLikeItsSeller(t *testing.T) {
	t.Parallel()
	site := live()
	site.ImageURL = func(logoURL string) string {
		if !strings.HasPrefix(logoURL, "/media/") {
			return ""
		}
		return "https://pay.example.com" + logoURL
	}
	button := regexp.MustCompile(`class="button" style="[^"]*background:(#[0-9a-f]{6});color:(#[0-9a-f]{6});`)
	for name, c := range map[string]struct {
		seller       string
		look         Look
		logo         string
		button, text string
		dark         string
	}{
		"nothing chosen": {"Ada's Workshop", Look{}, "", "#0b5d4a", "#ffffff", "#5cceac"},
		"a logo and a color": {
			"Ada's Workshop", Look{"/media/img_1", "#4f46e5"}, "https://pay.example.com/media/img_1", "#4f46e5",
			"#ffffff", "#8781ed",
		},
		"a color too bright to read": {
			"Ada's Workshop", Look{AccentColor: "#ffff00"}, "", "#707000", "#ffffff", "#ffff00",
		},
		"a logo that cannot be shown": {
			"Ada's Workshop", Look{LogoURL: "ftp://shop.example/logo.png"}, "", "#0b5d4a", "#ffffff", "#5cceac",
		},
		"a mail of before, without it": {"", Look{}, "", "#0b5d4a", "#ffffff", "#5cceac"},
	} {
		data := ReceiptOf(paid(), "Ada's Workshop")
		data.ReplyTo.Name, data.Look = c.seller, c.look
		html := write(t, KindReceipt, site, data).HTML
		brand := ">Sundry</td>"
		if c.seller != "" {
			brand = ">Ada&#39;s Workshop</td>"
		}
		if !strings.Contains(html, brand) || (c.logo != "") != strings.Contains(html, "<img ") ||
			!strings.Contains(html, c.logo) {
			t.Errorf("%s: the head has another name or logo", name)
		}
		if got := button.FindStringSubmatch(html); len(got) != 3 || got[1] != c.button || got[2] != c.text ||
			!strings.Contains(html, ".button { background: "+c.dark+" !important") {
			t.Errorf("%s: the button is %v", name, got)
		}
	}
}

func TestAReceiptRepeatsWhatCancelingReturns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hours  *int
		cents  int64
		locale string
		want   string
	}{
		{new(24), 1200, "", "Full refund if you cancel at least 24 hours before the start."},
		{new(0), 1200, "de-DE", "Volle Erstattung, wenn du vor Beginn absagst."},
		{new(1), 1200, "fr", "Remboursement intégral si vous annulez au moins 1 heure avant le début."},
		{nil, 1200, "", ""},
		{new(24), 0, "", ""},
	} {
		bought := paid()
		bought.Offer.FullRefundHours, bought.Total, bought.Buyer.Locale = c.hours, euros(c.cents), c.locale
		text := write(t, KindReceipt, live(), ReceiptOf(bought, "Ada")).Text
		if c.want != "" && !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "before the start") {
			t.Errorf("want %q:\n%s", c.want, text)
		}
	}
}

func TestLinksOfTextFollowTheLanguagesColon(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"en": "View receipt:\nhttps", "de": "Beleg ansehen:\nhttps", "fr": "Voir le reçu\u00a0:\nhttps",
	} {
		bought := paid()
		bought.Buyer.Locale = tag
		if text := write(t, KindReceipt, live(), ReceiptOf(bought, "Ada")).Text; !strings.Contains(text, want) {
			t.Errorf("want %q:\n%s", want, text)
		}
	}
}

func TestMailsNameACreditNoteAsTheDocumentDoes(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"en", "de", "fr"} {
		reader := locale.ParseTag(tag)
		if got, want := reader.Text("mail.refund.credit_note"), reader.Text("document.title.credit_note"); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}
