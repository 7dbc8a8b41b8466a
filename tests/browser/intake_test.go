package browser

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"sundry/tests/harness"
)

func TestABuyerAnswersTheSellersQuestions(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	s.AsCreator(t, http.MethodPatch, "/v1/listings/"+s.single.ID, harness.JSON{"metadata": harness.JSON{
		"questions": []harness.JSON{
			{"key": "goal", "label": "What would you like to work on?", "type": "text", "required": true},
			{"key": "story", "label": "Tell me about yourself", "type": "long_text", "required": false},
			{
				"key": "level", "label": "How long have you printed?", "type": "select", "required": true,
				"options": []string{"I’m new to it", "A year or more"},
			},
			{"key": "terms", "label": "I bring my own paper", "type": "checkbox", "required": true},
			{"key": "phone", "label": "Your phone number", "type": "phone", "required": false},
		},
	}}).Want(t, http.StatusOK)
	var class struct{ VariantID string }
	s.AsCreator(t, http.MethodPost, "/v1/listings/"+s.single.ID+"/variants", harness.JSON{
		"durationMinutes": 60, "seats": 5,
	}).Want(t, http.StatusCreated).Into(t, &class)
	session := s.sell(s.single, harness.JSON{"variantId": class.VariantID})
	b := tabIn(t, newYork)
	b.open(session["checkoutUrl"].(string))
	b.shown()
	b.sees("5 left")
	b.accessible("seats")
	b.click("#times [role=option]")
	b.click("#confirm")
	fillIn(b, harness.CardSucceeds)
	b.click("#guests-more summary")
	b.fill("#guests", "friend@example.com, nobody")
	b.fill(`[id="answers.phone"]`, "call me")
	b.click("#submit")
	b.wait(`document.querySelectorAll("#problem-list li").length === 5`)
	b.sees("Answer this question.")
	b.sees("Enter a phone number like")
	b.accessible("questions")
	b.fill(`[id="answers.goal"]`, "My portfolio")
	b.fill(`[id="answers.story"]`, "I print.\nBadly.")
	b.do("choose a level", chromedp.SetValue(chromedp.CSS(`[id="answers.level"]`), "A year or more"))
	b.click(`[id="answers.terms"]`)
	b.fill(`[id="answers.phone"]`, "+353 1 234 5678")
	b.fill("#notes", "The bell is broken.")
	b.fill("#guests", "friend@example.com, other@example.com")
	b.click("#submit")
	b.sees("Payment complete")
	booked := s.booked(session)[0]
	found := s.AsBackend(t, http.MethodGet, "/v1/appointments/"+booked["id"].(string), nil).Want(t, http.StatusOK).Map(t)
	if answers, guests := found["answers"].([]any), found["guests"].([]any); len(answers) != 5 || len(guests) != 2 ||
		found["notes"] != "The bell is broken." {
		t.Errorf("the appointment has %v", found)
	}
	b.open(found["manageUrl"].(string))
	b.sees("I bring my own paper")
	b.accessible("what the buyer said")
	d := s.atDashboard()
	for _, path := range []string{"/listings/" + s.single.ID + "/edit", "/bookings/" + booked["id"].(string)} {
		d.open(s.URL + "/dashboard" + path)
		d.wait(`document.readyState === "complete"`)
		d.accessible("/dashboard" + path)
	}
	d.open(s.URL + "/dashboard/listings/" + s.single.ID + "/edit")
	d.fill(`[name="metadata.questions0.label"]`, "")
	d.fill(`[name="metadata.questions5.label"]`, "Anything else?")
	d.fill(`[name="metadata.questions5.options"]`, "Yes")
	d.click("#listing-metadata-questions [data-add]")
	d.wait(`document.activeElement.name === "metadata.questions6.label"`)
	d.wait(`document.querySelector('[name="metadata.questions6.options"]').value === ""`)
	d.accessible("a question that was added")
	d.fill(`[name="metadata.questions5.options"]`, "")
	d.click(".form-end button")
	d.wait(`document.readyState === "complete" && !location.pathname.endsWith("/edit")`)
	asked := s.AsCreator(t, http.MethodGet, "/v1/listings/mine/"+s.single.ID, nil).Want(t, http.StatusOK).
		Map(t)["metadata"].(map[string]any)["questions"].([]any)
	if first, last := asked[0].(map[string]any), asked[4].(map[string]any); len(asked) != 5 || first["key"] != "story" ||
		last["label"] != "Anything else?" || last["key"] != "anything-else" {
		t.Errorf("after the form was saved it asks %v", asked)
	}
}
