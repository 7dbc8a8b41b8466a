package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"sundry/adapters/httpapi"
	"sundry/bootstrap"
	"sundry/config"
	"sundry/core/fault"
)

// Validator holds responses against the API's document.
type Validator struct {
	Document *openapi3.T
	Routes   []httpapi.Route
	router   routers.Router
}

// documented returns the validator that the tests of a process share.
func documented(t testing.TB) *Validator {
	t.Helper()
	v, err := sharedValidator()
	if err != nil {
		t.Fatalf("the API document: %v", err)
	}
	return v
}

// sharedValidator is made once per process: the document does not change. bootstrap tests that it is valid.
var sharedValidator = sync.OnceValues(func() (*Validator, error) {
	for _, media := range []string{ // text to us, whatever it holds
		"text/html", "text/calendar", "application/yaml", "application/x-ndjson", "application/openmetrics-text",
	} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.PlainBodyDecoder)
	}
	api := bootstrap.API(config.Sandbox)
	text, err := api.Document().YAML()
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	// From 3.1 on the filter compiles a JSON Schema for each body. Its own validator knows all that the document uses.
	doc.OpenAPI = "3.0.3"
	router, err := gorillamux.NewRouter(doc)
	return &Validator{Document: doc, Routes: api.Routes(), router: router}, err
})

// Check returns what is wrong with a response: its status, a header or its body is not what the document declares for
// this operation, or the request was accepted although the document forbids it. body is the request's.
func (v *Validator) Check(request *http.Request, body []byte, res *Response) error {
	route, parameters, err := v.router.FindRoute(request)
	if err != nil {
		return v.checkNoRoute(res, err)
	}
	request = request.Clone(context.Background())
	body = withoutNulls(body)
	request.Body, request.GetBody, request.ContentLength = io.NopCloser(bytes.NewReader(body)), nil, int64(len(body))
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true, MultiError: true, SkipSettingDefaults: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, RejectWhenRequestBodyNotSpecified: true,
		},
	}
	var faults []error
	if res.Status < 300 {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			faults = append(faults, fmt.Errorf("accepted a request that the document forbids: %w", err))
		}
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: res.Status, Header: res.Header,
		Body: io.NopCloser(bytes.NewReader(res.Body)), Options: input.Options,
	})
	return errors.Join(append(faults, err, checkBodyless(res), checkCode(route.Operation, res))...)
}

// checkCode refuses an error code that the operation does not name for the status. An unknown query parameter is
// possible everywhere.
func checkCode(op *openapi3.Operation, res *Response) error {
	response := op.Responses.Value(strconv.Itoa(res.Status))
	if res.Status < 400 || response == nil || !strings.Contains(res.Header.Get("Content-Type"), "json") {
		return nil
	}
	var view struct{ Code fault.Code }
	if err := res.decode(&view); err != nil {
		return err
	}
	if codes := httpapi.DocumentedCodes(*response.Value.Description); len(codes) > 0 &&
		view.Code != fault.UnknownParameter && !slices.Contains(codes, view.Code) {
		return fmt.Errorf("%s is not documented for %s, which names %v", view.Code, op.OperationID, codes)
	}
	return nil
}

// withoutNulls is the body as the document counts it: a member that is null is one that was left out.
func withoutNulls(body []byte) []byte {
	if !bytes.Contains(body, []byte("null")) {
		return body
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return body
	}
	stripped, err := json.Marshal(stripNulls(document))
	if err != nil {
		return body
	}
	return stripped
}

func stripNulls(document any) any {
	switch d := document.(type) {
	case map[string]any:
		for name, value := range d {
			if value == nil {
				delete(d, name)
				continue
			}
			d[name] = stripNulls(value)
		}
	case []any:
		for i := range d {
			d[i] = stripNulls(d[i])
		}
	}
	return document
}

// checkNoRoute checks the response to a request that the document does not know: it must be a refusal in the one shape.
func (v *Validator) checkNoRoute(res *Response, cause error) error {
	if res.Status < 400 || res.Status >= 500 {
		return fmt.Errorf("responded with %d to a request that the document does not know: %w", res.Status, cause)
	}
	var value any
	if err := res.decode(&value); err != nil {
		return err
	}
	return v.Document.Components.Schemas["Error"].Value.VisitJSON(value)
}

// checkBodyless refuses a body where HTTP allows none.
func checkBodyless(res *Response) error {
	if (res.Status == http.StatusNoContent || res.Status == http.StatusNotModified) && len(res.Body) > 0 {
		return fmt.Errorf("%d with a body of %d bytes", res.Status, len(res.Body))
	}
	return nil
}
