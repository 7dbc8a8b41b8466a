// Package webhooks is the API of events, webhook endpoints and their deliveries.
package webhooks

import (
	_ "embed"
	"encoding/json"

	"sundry/adapters/httpapi"
	"sundry/core/apiformat"
	"sundry/core/webhook"
	"sundry/modules/webhooks"
)

// operations describe the area's routes.
//
//go:embed openapi.yaml
var operations []byte

// Document is the area's part of the OpenAPI document, with every message that receivers are sent.
var Document = append(operations, messages()...)

// messages describe each event type as a webhook. OpenAPI 3.0 knows them as an extension only.
func messages() []byte {
	type object = map[string]any
	all := object{}
	for _, kind := range webhook.Catalogue() {
		var schema any
		if err := json.Unmarshal(kind.Schema, &schema); err != nil {
			panic(err) // the catalogue is part of the program
		}
		message := object{"allOf": []any{
			object{"$ref": "#/components/schemas/Event"},
			object{
				"type": "object",
				"properties": object{
					"type": object{"type": "string", "enum": []any{kind.Type}}, "data": openAPISchema(schema),
				},
			},
		}}
		all[string(kind.Type)] = object{"post": object{
			"tags": []any{"Events and webhooks"}, "operationId": "on." + string(kind.Type),
			"summary": string(kind.Type), "description": kind.Description,
			"requestBody": object{"required": true, "content": object{"application/json": object{"schema": message}}},
			"responses": object{
				"2XX": object{"description": "Received. Any other status is a failure, and the message is sent again."},
			},
		}}
	}
	text, err := apiformat.JSON(all)
	if err != nil {
		panic(err)
	}
	return append([]byte("\nx-webhooks: "), text...)
}

// openAPISchema is a JSON Schema of the catalogue as OpenAPI 3.0 writes it: null is no type, but a property of one.
func openAPISchema(schema any) any {
	switch s := schema.(type) {
	case []any:
		items := make([]any, len(s))
		for i, item := range s {
			items[i] = openAPISchema(item)
		}
		return items
	case map[string]any:
		written := make(map[string]any, len(s))
		for name, value := range s {
			types, several := value.([]any)
			switch {
			case name == "$schema":
			case name == "type" && several && len(types) == 2 && types[1] == "null":
				written["type"], written["nullable"] = types[0], true
			default:
				written[name] = openAPISchema(value)
			}
		}
		return written
	}
	return schema
}

// Deps holds what the handlers depend on.
type Deps struct {
	Live     bool
	Webhooks *webhooks.Service
}

type handlers struct{ Deps }

// Routes are the area's lines of the route table.
func Routes(d Deps) []httpapi.Route { return handlers{d}.webhookRoutes() }
