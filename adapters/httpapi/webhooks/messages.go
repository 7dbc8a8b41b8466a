package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sundry/core/apiformat"
	"sundry/core/webhook"
)

// object is a JSON object of the OpenAPI document.
type object = map[string]any

// Messages describes each event type: its schema, the union of them all, and the webhook that sends it. The text
// continues Document, which ends within components.schemas.
func Messages() []byte {
	var schemas bytes.Buffer
	declare := func(name string, schema any) string {
		fmt.Fprintf(&schemas, "    %s: %s\n", name, written(schema))
		return "#/components/schemas/" + name
	}
	var union []any
	data, types, hooks := map[string]string{}, object{}, object{}
	for _, kind := range webhook.Catalogue() {
		name := kind.SchemaName()
		if data[name] == "" {
			data[name] = declare(typeName(name)+"Data", dataSchema(kind))
		}
		reference := declare(typeName(string(kind.Type))+"Event", envelope(kind, data[name]))
		union = append(union, object{"$ref": reference})
		types[string(kind.Type)] = reference
		hooks[string(kind.Type)] = message(kind, reference)
	}
	declare("Event", object{
		"description":   "What a receiver is sent. The type decides what `data` is.",
		"oneOf":         union,
		"discriminator": object{"propertyName": "type", "mapping": types},
	})
	return fmt.Appendf(nil, "%swebhooks: %s\n", schemas.Bytes(), written(hooks))
}

// dataSchema is the schema of the envelope's data. The document specifies the dialect of all its schemas.
func dataSchema(kind webhook.Kind) object {
	var schema object
	if err := json.Unmarshal(kind.Schema, &schema); err != nil {
		panic(err) // the catalogue is part of the program
	}
	delete(schema, "$schema")
	return schema
}

// envelope is the schema of an event of one type.
func envelope(kind webhook.Kind, data string) object {
	return object{
		"type": "object", "description": kind.Description, "additionalProperties": false,
		"required": []string{"id", "type", "createdAt", "livemode", "apiVersion", "data"},
		"properties": object{
			"id": object{
				"type": "string", "pattern": "^evt_[0-9a-z]{26}$", "description": "The same as the header `webhook-id`.",
			},
			"type":       object{"type": "string", "enum": []any{kind.Type}},
			"createdAt":  object{"$ref": "#/components/schemas/Time"},
			"livemode":   object{"type": "boolean"},
			"apiVersion": object{"type": "string", "enum": []string{"v1"}},
			"data":       object{"$ref": data},
		},
	}
}

// message is the webhook that sends an event.
func message(kind webhook.Kind, event string) object {
	return object{"post": object{
		"tags": []string{"Events and webhooks"}, "operationId": "on" + typeName(string(kind.Type)),
		"summary": string(kind.Type), "description": kind.Description,
		"parameters": []any{
			header("webhook-id", "The event's id, the same for each attempt."),
			header("webhook-timestamp", "When it was sent, in Unix seconds."),
			header("webhook-signature", "The signatures of Standard Webhooks, with a space between two."),
		},
		"requestBody": object{
			"required": true, "content": object{"application/json": object{"schema": object{"$ref": event}}},
		},
		"responses": object{
			"2XX": object{"description": "Received. Any other status is a failure, and the message is sent again."},
		},
	}}
}

func header(name, description string) object {
	return object{
		"name": name, "in": "header", "required": true, "description": description, "schema": object{"type": "string"},
	}
}

// typeName is the name of a schema: UsageCreditGranted of usage_credit.granted.
func typeName(name string) string {
	var all strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '.' || r == '_' }) {
		all.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return all.String()
}

func written(value any) []byte {
	text, err := apiformat.JSON(value)
	if err != nil {
		panic(err)
	}
	return text
}
