package docs

import (
	"testing"

	"sundry/adapters/web/layout/layouttest"
)

// openapiSample holds each construct the reference page has to show.
const openapiSample = `
openapi: 3.1.0
info: {title: Sample API, version: v1, description: "First **bold** paragraph.\n\n- one ` + "`code`" + `\n- two"}
security: [{secretKey: []}]
tags:
  - {name: Checkout, description: Sell one thing.}
  - {name: Unused}
paths:
  /v1/checkout-sessions:
    parameters:
      - {name: Idempotency-Key, in: header, required: true, schema: {type: string, maxLength: 255}, description: Makes retries safe.}
    post:
      tags: [Checkout]
      operationId: createCheckoutSession
      summary: Create a checkout session
      description: Opens a page <script>alert(1)</script> for the buyer.
      requestBody:
        content: {application/json: {schema: {$ref: '#/components/schemas/NewSession'}}}
      responses:
        "201":
          description: Created
          headers: {X-Request-Id: {schema: {type: string}}}
          content: {application/json: {schema: {$ref: '#/components/schemas/Session'}}}
        "400": {$ref: '#/components/responses/Invalid'}
  /v1/checkout-sessions/{id}:
    get:
      tags: [Checkout]
      summary: Read a checkout session
      security: []
      parameters:
        - {name: id, in: path, required: true, schema: {type: string}, example: cs_1}
      responses: {"200": {description: The session, content: {application/json: {schema: {$ref: '#/components/schemas/Session'}}}}}
components:
  securitySchemes:
    secretKey: {type: http, scheme: bearer}
    returnToken: {type: apiKey, in: query, name: returnToken}
  responses:
    Invalid: {description: Every fault is listed., content: {application/json: {schema: {type: object}}}}
  schemas:
    NewSession:
      type: object
      required: [catalog, successUrl]
      properties:
        catalog:
          type: object
          required: [listing]
          properties:
            listing: {type: string, example: "studio-pro"}
        successUrl: {type: string, format: uri, example: "https://shop.example/it's"}
        uiMode: {enum: [hosted, embedded], type: string}
        metadata: {type: object, additionalProperties: {type: string}}
    Session:
      allOf:
        - $ref: '#/components/schemas/NewSession'
        - type: object
          properties:
            id: {type: string}
            expiresAt: {type: [string, "null"], format: date-time}
            related: {type: array, items: {$ref: '#/components/schemas/Session'}}
`

func newTestRoutes(t *testing.T, sandbox bool) *Routes {
	t.Helper()
	r, err := New(layouttest.New(t, sandbox), func() ([]byte, error) { return []byte(openapiSample), nil })
	if err != nil {
		t.Fatal(err)
	}
	return r
}
