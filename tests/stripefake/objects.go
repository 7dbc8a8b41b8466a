package stripefake

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Payment methods by what they do. A token of Stripe's form is "ctoken_" and the name.
const (
	Succeeds    = "succeeds"
	Declines    = "declines"
	Challenges  = "challenges"
	PresentOnly = "presentonly"
	TimesOut    = "timesout"
	Garbage     = "garbage"
)

// UnsupportedCountry is a country that no account can be opened in.
const UnsupportedCountry = "AQ"

// Onboard changes a creator's account to what Stripe makes of it once everything is given and checked.
func (s *Server) Onboard(accountID string) {
	s.Change(accountID, map[string]any{
		"details_submitted": true, "payouts_enabled": true, "capabilities": object{"transfers": "active"},
		"requirements": object{"currently_due": []string{}, "past_due": []string{}, "disabled_reason": ""},
	})
}

// Restrict changes a creator's account to one that is paid nothing out until something is settled.
func (s *Server) Restrict(accountID string) {
	s.Change(accountID, map[string]any{
		"details_submitted": true, "payouts_enabled": false, "capabilities": object{"transfers": "inactive"},
		"requirements": object{
			"currently_due": []string{"individual.verification.document"}, "past_due": []string{},
			"disabled_reason": "rejected.other",
		},
	})
}

// Latest is the newest object of a kind, such as "acct_", as Stripe would send it; nil for none.
func (s *Server) Latest(prefix string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.Backward(s.order) {
		if strings.HasPrefix(id, prefix) {
			return clone(s.objects[id])
		}
	}
	return nil
}

// handle is one request. It runs under the lock.
func (s *Server) handle(r *http.Request) (int, object) {
	path := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, "/v1/"), "/"), "/")
	form := r.PostForm
	kind, id, verb := path[0], "", ""
	if len(path) > 1 {
		id = path[1]
	}
	if len(path) > 2 {
		verb = path[2]
	}
	if kind == "tax" {
		return s.createTax(id, form)
	}
	if id == "search" {
		return s.search(kind, r.URL.Query().Get("query"))
	}
	if _, billed := s.billing[kind]; r.Method == http.MethodGet && id == "" && billed {
		return s.billing.page(kind, r.URL.Query())
	}
	if r.Method == http.MethodGet && id == "" {
		return s.list(kind, r.URL.Query())
	}
	if id == "" {
		return s.create(kind, form)
	}
	if kind == "confirmation_tokens" {
		return http.StatusOK, object{
			"id": id, "object": "confirmation_token",
			"payment_method_preview": object{"type": "card", "card": cardObject(strings.TrimPrefix(id, "ctoken_"))},
		}
	}
	o, ok := s.objects[id]
	if !ok {
		return refuse(http.StatusNotFound, "resource_missing")
	}
	switch {
	case r.Method == http.MethodGet:
		return http.StatusOK, o
	case verb == "":
		return s.update(o, form)
	case verb == "confirm":
		return s.confirm(o, form, form.Get("off_session") == "true")
	case verb == "cancel":
		return s.cancel(o)
	case verb == "finalize":
		return s.finalize(o)
	case verb == "pay":
		return s.pay(o, form)
	case verb == "void":
		o["status"] = "void"
		_, _ = s.cancel(s.objects[o["payment_intent"].(string)])
		return http.StatusOK, o
	case verb == "close" && o["status"] != "won" && o["status"] != "lost":
		o["status"] = "lost"
		s.emit("charge.dispute.closed", o)
		return http.StatusOK, o
	case verb == "close":
		return refuse(http.StatusBadRequest, "")
	}
	return refuse(http.StatusNotFound, "no_such_route")
}

func refuse(status int, code string) (int, object) {
	return status, errorBody("invalid_request_error", code)
}

func (s *Server) create(kind string, form url.Values) (int, object) {
	o := object{"metadata": metadata(form)}
	switch kind {
	case "customers":
		return http.StatusOK, s.add("cus_", o)
	case "payment_intents":
		amount, _ := strconv.ParseInt(form.Get("amount"), 10, 64)
		if amount < 50 {
			return refuse(http.StatusBadRequest, "amount_too_small")
		}
		return http.StatusOK, s.intent(o, amount, form.Get("currency"), form.Get("customer"))
	case "setup_intents":
		o["status"], o["customer"], o["object"] = "requires_payment_method", orNil(form.Get("customer")), "setup_intent"
		s.add("seti_", o)
		o["client_secret"] = o["id"].(string) + "_secret_1"
		return http.StatusOK, o
	case "invoices":
		o["status"], o["currency"], o["customer"], o["amount_due"] = "draft", form.Get("currency"), form.Get("customer"),
			int64(0)
		o["default_payment_method"] = form.Get("default_payment_method")
		return http.StatusOK, s.add("in_", o)
	case "invoiceitems":
		amount, _ := strconv.ParseInt(form.Get("amount"), 10, 64)
		o["amount"], o["description"], o["invoice"] = amount, form.Get("description"), form.Get("invoice")
		if invoice := s.objects[form.Get("invoice")]; invoice != nil {
			invoice["amount_due"] = invoice["amount_due"].(int64) + amount
		}
		return http.StatusOK, s.add("ii_", o)
	case "refunds":
		return s.refund(o, form)
	case "files":
		o["object"], o["purpose"], o["filename"], o["content"] = "file", form.Get("purpose"), form.Get("filename"),
			form.Get("content")
		return http.StatusOK, s.add("file_", o)
	case "transfers":
		amount, _ := strconv.ParseInt(form.Get("amount"), 10, 64)
		o["amount"], o["destination"], o["reversed"], o["transfer_group"] = amount, form.Get("destination"), false,
			form.Get("transfer_group")
		o["currency"] = form.Get("currency")
		s.add("tr_", o)
		s.emit("transfer.created", o)
		return http.StatusOK, o
	}
	return s.createConnect(kind, o, form)
}

// createConnect makes what connected accounts need.
func (s *Server) createConnect(kind string, o object, form url.Values) (int, object) {
	switch kind {
	case "accounts":
		if form.Get("country") == UnsupportedCountry {
			return refuse(http.StatusBadRequest, "country_unsupported")
		}
		o["type"], o["country"], o["email"], o["details_submitted"], o["payouts_enabled"] = form.Get("type"),
			form.Get("country"), form.Get("email"), false, false
		o["capabilities"] = object{"transfers": "inactive"}
		o["requirements"] = object{
			"currently_due": []string{"individual.verification.document", "external_account"}, "past_due": []string{},
			"disabled_reason": "requirements.past_due",
		}
		return http.StatusOK, s.add("acct_", o)
	case "account_links":
		if s.objects[form.Get("account")] == nil {
			return refuse(http.StatusNotFound, "resource_missing")
		}
		return http.StatusOK, s.add("link_", object{
			"object": "account_link", "url": s.URL + "/setup/" + form.Get("account"), "expires_at": 4_000_000_000,
			"return_url": form.Get("return_url"), "refresh_url": form.Get("refresh_url"), "metadata": object{},
		})
	}
	return refuse(http.StatusNotFound, "no_such_route")
}

func (s *Server) intent(o object, amount int64, currency, customer string) object {
	o["status"], o["amount"], o["currency"], o["customer"] = "requires_payment_method", amount, currency, orNil(customer)
	o["object"] = "payment_intent"
	s.add("pi_", o)
	o["client_secret"] = o["id"].(string) + "_secret_1"
	return o
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (s *Server) update(o object, form url.Values) (int, object) {
	maps.Copy(o["metadata"].(object), metadata(form))
	if form.Get("cancel_at_period_end") == "true" {
		o["cancel_at_period_end"] = true
	}
	if text := form.Get("evidence[uncategorized_text]"); text != "" {
		if o["status"] == "won" || o["status"] == "lost" {
			return refuse(http.StatusBadRequest, "")
		}
		evidence := object{}
		for name, values := range form {
			if member, ok := strings.CutPrefix(name, "evidence["); ok {
				evidence[strings.TrimSuffix(member, "]")] = values[0]
			}
		}
		o["evidence"] = evidence
		if form.Get("submit") == "true" {
			o["status"] = "under_review"
			s.emit("charge.dispute.updated", o)
		}
	}
	return http.StatusOK, o
}

// submitted returns what the id of a payment method, or of a token of the form, names: <behavior>_<card>.
func submitted(form url.Values) string {
	if token := form.Get("confirmation_token"); token != "" {
		return strings.TrimPrefix(token, "ctoken_")
	}
	return strings.TrimPrefix(form.Get("payment_method"), "pm_")
}

// testMethods has the behavior of Stripe's own payment methods for tests, all others of which succeed.
var testMethods = map[string]string{
	"card_authenticationRequired": Challenges, "card_chargeCustomerFail": PresentOnly,
	"card_visa_chargeDeclined": Declines,
}

// behavior returns the behavior that a payment method names.
func behavior(form url.Values) string {
	does, _, _ := strings.Cut(cmp.Or(testMethods[submitted(form)], submitted(form)), "_")
	return does
}

// cardObject is the card that a payment method names: <behavior>_<card>. Cards of one name have one fingerprint.
func cardObject(method string) object {
	_, name, _ := strings.Cut(method, "_")
	return object{
		"brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2034, "country": "IE", "fingerprint": "fp_" + name,
	}
}

func (s *Server) confirm(o object, form url.Values, offSession bool) (int, object) {
	if o["status"] != "requires_payment_method" && o["status"] != "requires_confirmation" {
		return refuse(http.StatusBadRequest, o["object"].(string)+"_unexpected_state")
	}
	does := behavior(form)
	method := object{"id": "pm_" + does + "_saved", "type": "card", "card": cardObject(submitted(form))}
	refusedOff := offSession && (does == Challenges || does == PresentOnly)
	switch {
	case does == Declines || refusedOff:
		decline := object{
			"type": "card_error", "code": "card_declined", "decline_code": "insufficient_funds", "message": "A secret.",
			"payment_method": method,
		}
		if refusedOff && does == Challenges {
			decline["code"], decline["decline_code"] = "authentication_required", "authentication_required"
		}
		o[lastError(o)] = decline
		s.emit(failedEvent(o), o)
		return http.StatusPaymentRequired, object{"error": decline}
	case does == Garbage:
		return refuse(http.StatusBadRequest, "resource_missing")
	case does == Challenges:
		o["status"], o["payment_method"] = "requires_action", method
		o["next_action"] = object{"type": "use_stripe_sdk"}
		s.emit(o["object"].(string)+".requires_action", o)
	default:
		s.succeed(o, method)
	}
	return http.StatusOK, o
}

// failedEvent is the event of an intent whose card was refused.
func failedEvent(o object) string {
	if o["object"] == "setup_intent" {
		return "setup_intent.setup_failed"
	}
	return "payment_intent.payment_failed"
}

func lastError(o object) string {
	if o["object"] == "setup_intent" {
		return "last_setup_error"
	}
	return "last_payment_error"
}

func (s *Server) succeed(o, method object) {
	o["status"], o["payment_method"], o["next_action"] = "succeeded", method, nil
	defer s.emit(o["object"].(string)+".succeeded", o)
	if amount, ok := o["amount"].(int64); ok {
		o["latest_charge"] = object{
			"id":                  "ch_1",
			"balance_transaction": object{"id": "txn_1", "fee": amount*3/200 + 25, "currency": o["currency"]},
		}
	}
}

func (s *Server) cancel(o object) (int, object) {
	if o["status"] == "succeeded" || o["status"] == "canceled" {
		return refuse(http.StatusBadRequest, o["object"].(string)+"_unexpected_state")
	}
	o["status"], o["next_action"] = "canceled", nil
	s.emit(o["object"].(string)+".canceled", o)
	return http.StatusOK, o
}

func (s *Server) finalize(o object) (int, object) {
	made := s.intent(
		object{"metadata": object{}, "invoice": o["id"]}, o["amount_due"].(int64), o["currency"].(string),
		o["customer"].(string),
	)
	o["status"], o["payment_intent"] = "open", made["id"]
	return http.StatusOK, o
}

func (s *Server) pay(o object, form url.Values) (int, object) {
	status, body := s.confirm(s.objects[o["payment_intent"].(string)], form, form.Get("off_session") == "true")
	if status != http.StatusOK {
		return status, body
	}
	o["status"] = "paid"
	return http.StatusOK, o
}

func (s *Server) refund(o object, form url.Values) (int, object) {
	intent := s.objects[form.Get("payment_intent")]
	if intent == nil {
		return refuse(http.StatusNotFound, "resource_missing")
	}
	amount, _ := strconv.ParseInt(form.Get("amount"), 10, 64)
	if amount < 1 {
		return refuse(http.StatusBadRequest, "parameter_invalid_integer")
	}
	if intent["status"] != "succeeded" {
		return refuse(http.StatusBadRequest, "payment_intent_unexpected_state")
	}
	if s.disputed(intent["id"].(string)) {
		return refuse(http.StatusBadRequest, "charge_disputed")
	}
	switch left := intent["amount"].(int64) - s.refunded(intent["id"].(string)); {
	case left == 0:
		return refuse(http.StatusBadRequest, "charge_already_refunded")
	case amount > left: // which has no code of its own
		status, body := refuse(http.StatusBadRequest, "")
		body["error"].(object)["param"] = "amount"
		return status, body
	}
	o["amount"], o["currency"], o["payment_intent"], o["status"] = amount, intent["currency"], intent["id"], "succeeded"
	if s.delayRefunds {
		o["status"] = "pending"
	}
	s.add("re_", o)
	s.emit("refund.created", o)
	s.emit("charge.refunded", chargeOf(intent))
	return http.StatusOK, o
}

// disputed reports whether the money of a payment is with the buyer's bank: while a dispute is open, or once it is lost.
func (s *Server) disputed(intentID string) bool {
	for id, o := range s.objects {
		if strings.HasPrefix(id, "dp_") && o["payment_intent"].(object)["id"] == intentID && o["status"] != "won" {
			return true
		}
	}
	return false
}

// chargeOf is the charge of a payment, which has its metadata.
func chargeOf(intent object) object {
	return object{"id": "ch_1", "object": "charge", "metadata": intent["metadata"], "payment_intent": intent["id"]}
}

func (s *Server) refunded(intentID string) (sum int64) {
	for _, o := range s.objects {
		if strings.HasPrefix(o["id"].(string), "re_") && o["payment_intent"] == intentID && o["status"] != "failed" {
			sum += o["amount"].(int64)
		}
	}
	return sum
}

var prefixes = map[string]string{
	"payment_intents": "pi_", "customers": "cus_", "refunds": "re_", "transfers": "tr_", "invoiceitems": "ii_",
}

func (s *Server) list(kind string, query url.Values) (int, object) {
	found := []object{}
	for _, id := range slices.Backward(s.order) {
		o := s.objects[id]
		if !strings.HasPrefix(id, prefixes[kind]) {
			continue
		}
		wanted := true
		for _, name := range []string{"payment_intent", "transfer_group", "invoice"} {
			wanted = wanted && (query.Get(name) == "" || o[name] == query.Get(name))
		}
		since, _ := strconv.ParseInt(query.Get("created[gte]"), 10, 64)
		if wanted && o["created"].(int64) >= since {
			found = append(found, s.expanded(o))
		}
	}
	return http.StatusOK, object{"object": "list", "data": found, "has_more": false, "url": "/v1/" + kind}
}

// expanded is an object of a list with what the adapter has expanded in it: what was refunded of a payment, and the
// payment of a refund.
func (s *Server) expanded(o object) object {
	o = maps.Clone(o)
	if charge, ok := o["latest_charge"].(object); ok {
		charge = maps.Clone(charge)
		charge["amount_refunded"], o["latest_charge"] = s.refunded(o["id"].(string)), charge
	}
	if intent, ok := o["payment_intent"].(string); ok && strings.HasPrefix(o["id"].(string), prefixes["refunds"]) {
		o["payment_intent"] = s.expanded(s.objects[intent])
	}
	return o
}

func (s *Server) search(kind, query string) (int, object) {
	name, value, _ := strings.Cut(query, ":")
	name, value = strings.Trim(strings.TrimPrefix(name, "metadata"), "[]'"), strings.Trim(value, "'")
	found := []object{}
	for _, id := range s.order {
		if o := s.objects[id]; strings.HasPrefix(id, prefixes[kind]) && o["metadata"].(object)[name] == value {
			found = append(found, o)
		}
	}
	return http.StatusOK, object{
		"object": "search_result", "data": found, "has_more": false, "url": "/v1/" + kind + "/search",
	}
}

// of finds the latest object of a kind whose metadata have a value.
func (s *Server) of(prefix, name, value string) object {
	for _, id := range slices.Backward(s.order) {
		if o := s.objects[id]; strings.HasPrefix(id, prefix) && o["metadata"].(object)[name] == value {
			return o
		}
	}
	return nil
}

// Refunded returns the refunded part of a payment.
func (s *Server) Refunded(paymentID string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if intent := s.of("pi_", "payment_id", paymentID); intent != nil {
		return s.refunded(intent["id"].(string))
	}
	return 0
}

// RefundInDashboard refunds a part of a payment as somebody in Stripe's dashboard does: without our metadata. The id is
// "" where Stripe refuses it.
func (s *Server) RefundInDashboard(t testing.TB, paymentID string, amount int64) (id string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	intent := s.of("pi_", "payment_id", paymentID)
	status, made := s.refund(object{"object": "refund", "metadata": object{}}, url.Values{
		"payment_intent": {intent["id"].(string)}, "amount": {strconv.FormatInt(amount, 10)},
	})
	if status != http.StatusOK {
		return ""
	}
	return made["id"].(string)
}

// Challenge plays the buyer at their bank.
func (s *Server) Challenge(t testing.TB, paymentID string, approve bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.of("pi_", "payment_id", paymentID)
	if o == nil {
		o = s.of("seti_", "payment_id", paymentID)
	}
	if o == nil {
		t.Fatalf("nothing is known of %s", paymentID)
	}
	if o["status"] != "requires_action" {
		return
	}
	if approve {
		s.succeed(o, o["payment_method"].(object))
		return
	}
	o["status"], o["next_action"] = "requires_payment_method", nil
	o[lastError(o)] = object{
		"type": "card_error", "code": o["object"].(string) + "_authentication_failure",
		"payment_method": o["payment_method"],
	}
	o["payment_method"] = nil
	s.emit(failedEvent(o), o)
}

// Get is an object of a kind by one of its metadata, as Stripe would send it; nil for none.
func (s *Server) Get(prefix, name, value string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.of(prefix, name, value); o != nil {
		return clone(o)
	}
	return nil
}

// All returns the objects of a kind, oldest first, as Stripe would send them.
func (s *Server) All(prefix string) (all []map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.order {
		if strings.HasPrefix(id, prefix) {
			all = append(all, clone(s.objects[id]))
		}
	}
	return all
}

// Change alters an object, as others do: a bank that sends a refund back, a dispute that is decided.
func (s *Server) Change(id string, members map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[id]
	maps.Copy(o, members)
	kind, _, _ := strings.Cut(id, "_")
	s.emit(changedEvents[kind], o)
}

// changedEvents has the event of a change by the kind of its object.
var changedEvents = map[string]string{
	"acct": "account.updated", "dp": "charge.dispute.updated", "pi": "payment_intent.updated", "re": "refund.updated",
	"tr": "transfer.updated",
}

// Number returns the number of objects of a kind.
func (s *Server) Number(prefix string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.objects {
		if strings.HasPrefix(id, prefix) {
			n++
		}
	}
	return n
}

// Evidence returns what was submitted about a dispute, by Stripe's names, with the content of each file in place of its
// id.
func (s *Server) Evidence(disputeID string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	submitted, _ := s.objects[disputeID]["evidence"].(object)
	all := map[string]string{}
	for member, value := range submitted {
		all[member] = value.(string)
		if f := s.objects[all[member]]; f != nil && f["purpose"] == "dispute_evidence" {
			all[member] = f["content"].(string)
		}
	}
	return all
}

// Dispute opens a dispute of a payment and returns its id.
func (s *Server) Dispute(paymentID string, amount int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dispute(s.of("pi_", "payment_id", paymentID), amount)
}

func (s *Server) dispute(intent object, amount int64) (id string) {
	o := s.add("dp_", object{
		"metadata": object{}, "amount": amount, "currency": intent["currency"], "status": "needs_response",
		"reason":         "fraudulent",
		"payment_intent": intent, "evidence_details": object{"due_by": 4_000_000_000},
	})
	s.emit("charge.dispute.created", o)
	return o["id"].(string)
}

// DisputeRest opens a dispute of what refunds have left of a payment, unless it was disputed before or nothing is left.
func (s *Server) DisputeRest(paymentID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	intent := s.of("pi_", "payment_id", paymentID)
	left := intent["amount"].(int64) - s.refunded(intent["id"].(string))
	for id, o := range s.objects {
		if strings.HasPrefix(id, "dp_") && o["payment_intent"].(object)["id"] == intent["id"] {
			left = 0
		}
	}
	if left > 0 {
		s.dispute(intent, left)
	}
}

// Decide ends a dispute that is open.
func (s *Server) Decide(disputeID, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[disputeID]; o["status"] == "needs_response" || o["status"] == "under_review" {
		o["status"] = status
		s.emit("charge.dispute.closed", o)
	}
}
