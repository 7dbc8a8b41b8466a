package docs

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// call is one request that a sample makes.
type call struct {
	method, path string
	credential   string // the variable that it is put in; "" for none
	key          string // Idempotency-Key; "" for none
	body         string // JSON; "" for none
}

// apiSample is one operation in one language.
type apiSample struct{ Language, Label, Text string }

// samples write an operation's request for each language.
func (r *docReader) samples(op *apiOp, media *mediaType) []apiSample {
	c := r.call(op, media)
	return []apiSample{
		{"curl", "curl", c.curl(r.baseURL)}, {"node", "TypeScript", c.node()}, {"go", "Go", c.golang()},
		{"python", "Python", c.python()},
	}
}

func (r *docReader) call(op *apiOp, media *mediaType) call {
	c := call{method: op.Method, path: op.Path}
	for _, p := range op.Params {
		if p.Example != "" {
			c.path = strings.ReplaceAll(c.path, "{"+p.Name+"}", p.Example)
		}
	}
	for _, name := range op.Auth {
		if r.Components.SecuritySchemes.get(name).Type == "http" {
			c.credential = envName(name)
			break
		}
	}
	if media == nil {
		return c
	}
	if op.Method == http.MethodPost && c.credential != "" && hasHeader(op, "Idempotency-Key") {
		c.key = strings.TrimPrefix(op.ID, "post-v1-") + "-" + exampleDay
	}
	c.body = indented(r.example(media), "")
	return c
}

// within indents every line of a text but the first.
func within(text, indent string) string { return strings.ReplaceAll(text, "\n", "\n"+indent) }

// curl is the line that can be pasted into a shell.
func (c call) curl(baseURL string) string {
	line := "curl"
	if c.method != http.MethodGet {
		line += " -X " + c.method
	}
	line += " '" + baseURL + c.path + "'"
	add := func(words string) { line += " \\\n  " + words }
	if c.credential != "" {
		add(`-H "Authorization: Bearer $` + c.credential + `"`)
	}
	if c.key != "" {
		add("-H 'Idempotency-Key: " + c.key + "'")
	}
	if c.body != "" {
		add("-H 'Content-Type: application/json'")
		add("-d '" + strings.ReplaceAll(within(c.body, "  "), "'", `'\''`) + "'")
	}
	return line
}

// node is the request in a module of Node.js, as JavaScript and TypeScript write it.
func (c call) node() string {
	var headers []string
	if c.credential != "" {
		headers = append(headers, "    Authorization: `Bearer ${process.env."+c.credential+"}`,\n")
	}
	if c.key != "" {
		headers = append(headers, "    \"Idempotency-Key\": "+strconv.Quote(c.key)+",\n")
	}
	if c.body != "" {
		headers = append(headers, "    \"Content-Type\": \"application/json\",\n")
	}
	var options strings.Builder
	if c.method != http.MethodGet {
		fmt.Fprintf(&options, "  method: %q,\n", c.method)
	}
	if len(headers) > 0 {
		fmt.Fprintf(&options, "  headers: {\n%s  },\n", strings.Join(headers, ""))
	}
	if c.body != "" {
		fmt.Fprintf(&options, "  body: JSON.stringify(%s),\n", within(c.body, "  "))
	}
	url := "`${process.env.SUNDRY_URL}" + c.path + "`"
	if options.Len() == 0 {
		return "const response = await fetch(" + url + ");\nconsole.log(response.status, await response.text());"
	}
	return "const response = await fetch(" + url + ", {\n" + options.String() +
		"});\nconsole.log(response.status, await response.text());"
}

// golang is the request with the standard library.
func (c call) golang() string {
	body, imports := "nil", []string{"fmt", "io", "log", "net/http", "os"}
	if c.body != "" {
		body, imports = "strings.NewReader(body)", append(imports, "strings")
	}
	var out strings.Builder
	fmt.Fprintf(&out, "package main\n\nimport (\n\t\"%s\"\n)\n\nfunc main() {\n", strings.Join(imports, "\"\n\t\""))
	if c.body != "" {
		fmt.Fprintf(&out, "\tbody := %s\n", goString(c.body))
	}
	fmt.Fprintf(
		&out, "\trequest, err := http.NewRequest(%q, os.Getenv(\"SUNDRY_URL\")+%q, %s)\n", c.method, c.path, body,
	)
	const stop = "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n"
	out.WriteString(stop)
	if c.credential != "" {
		fmt.Fprintf(&out, "\trequest.Header.Set(\"Authorization\", \"Bearer \"+os.Getenv(%q))\n", c.credential)
	}
	if c.key != "" {
		fmt.Fprintf(&out, "\trequest.Header.Set(\"Idempotency-Key\", %q)\n", c.key)
	}
	if c.body != "" {
		out.WriteString("\trequest.Header.Set(\"Content-Type\", \"application/json\")\n")
	}
	out.WriteString("\tresponse, err := http.DefaultClient.Do(request)\n" + stop + "\tdefer response.Body.Close()\n")
	out.WriteString(
		"\ttext, err := io.ReadAll(response.Body)\n" + stop + "\tfmt.Println(response.StatusCode, string(text))\n}",
	)
	return out.String()
}

// python is the request with the standard library.
func (c call) python() string {
	var out strings.Builder
	fmt.Fprintf(&out, "import os\nimport urllib.request\n\nrequest = urllib.request.Request(\n"+
		"    os.environ[\"SUNDRY_URL\"] + %q,\n    method=%q,\n", c.path, c.method)
	out.WriteString("    headers={\n")
	if c.credential != "" {
		fmt.Fprintf(&out, "        \"Authorization\": \"Bearer \" + os.environ[%q],\n", c.credential)
	}
	if c.key != "" {
		fmt.Fprintf(&out, "        \"Idempotency-Key\": %q,\n", c.key)
	}
	if c.body != "" {
		out.WriteString("        \"Content-Type\": \"application/json\",\n")
	}
	out.WriteString("    },\n")
	if c.body != "" {
		// JSON has no three quotes in a row.
		out.WriteString("    data=r\"\"\"" + c.body + "\"\"\".encode(),\n")
	}
	out.WriteString(")\nwith urllib.request.urlopen(request) as response:\n" +
		"    print(response.status, response.read().decode())")
	return out.String()
}

// goString writes a text as Go does: raw, unless it has a backquote.
func goString(text string) string {
	if strings.Contains(text, "`") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

func hasHeader(op *apiOp, name string) bool {
	return slices.ContainsFunc(op.Params, func(p apiField) bool { return strings.EqualFold(p.Name, name) })
}

// envName is the shell variable a credential is put in.
func envName(scheme string) string {
	if strings.Contains(strings.ToLower(scheme), "key") {
		return "SUNDRY_KEY"
	}
	return "ACCESS_TOKEN"
}

// indented is a value as JSON; "" for none.
func indented(value any, prefix string) string {
	if value == nil {
		return ""
	}
	raw, err := json.MarshalIndent(value, prefix, "  ")
	if err != nil {
		return ""
	}
	return string(raw)
}

// example prefers what the document's author wrote and makes the rest from the schema.
func (d *document) example(media *mediaType) any {
	if !media.Example.IsZero() {
		return plain(&media.Example)
	}
	for _, e := range media.Examples {
		if !e.value.Value.IsZero() {
			return plain(&e.value.Value)
		}
	}
	return d.sample(media.Schema, 0)
}

// ordered keeps the members of an example in the schema's order.
type ordered struct {
	keys   []string
	values []any
}

// MarshalJSON writes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var out strings.Builder
	out.WriteByte('{')
	for i, key := range o.keys {
		if i > 0 {
			out.WriteByte(',')
		}
		k, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(o.values[i])
		if err != nil {
			return nil, err
		}
		out.Write(k)
		out.WriteByte(':')
		out.Write(v)
	}
	out.WriteByte('}')
	return []byte(out.String()), nil
}

func (o *ordered) add(key string, value any) {
	if i := slices.Index(o.keys, key); i >= 0 {
		o.values[i] = value
		return
	}
	o.keys, o.values = append(o.keys, key), append(o.values, value)
}

func (d *document) sample(of *schema, depth int) any {
	s := d.schema(of)
	if s == nil || depth > maxDepth {
		return nil
	}
	switch {
	case !s.Example.IsZero():
		return plain(&s.Example)
	case len(s.Examples) > 0:
		return plain(&s.Examples[0])
	}
	if values := d.enum(of); len(values) > 0 && !slices.Contains(s.Type, "array") {
		return values[0]
	}
	if options := slices.Concat(s.OneOf, s.AnyOf); len(options) > 0 {
		return d.sample(options[0], depth)
	}
	kind := typeName(s)
	switch {
	case strings.HasPrefix(kind, "object"), len(s.AllOf) > 0:
		return d.sampleObject(s, depth)
	case strings.HasPrefix(kind, "array"):
		if s.Items == nil {
			return []any{}
		}
		return []any{d.sample(s.Items, depth+1)}
	case strings.HasPrefix(kind, "integer"), strings.HasPrefix(kind, "number"):
		return 1
	case strings.HasPrefix(kind, "boolean"):
		return true
	case strings.HasPrefix(kind, "string (date-time)"):
		return exampleDay + "T08:30:00.000Z"
	default:
		return "string"
	}
}

// sampleObject has the required members, all of them where none is required.
func (d *document) sampleObject(s *schema, depth int) any {
	o := ordered{}
	for _, part := range s.AllOf {
		if inner, ok := d.sample(part, depth).(ordered); ok {
			for i, key := range inner.keys {
				o.add(key, inner.values[i])
			}
		}
	}
	for _, property := range s.Properties {
		if len(s.Required) == 0 || slices.Contains(s.Required, property.name) {
			o.add(property.name, d.sample(property.value, depth+1))
		}
	}
	return o
}

// plain turns a node into a value JSON can write, members in their order.
func plain(node *yaml.Node) any {
	switch node.Kind {
	case yaml.MappingNode:
		o := ordered{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			o.add(node.Content[i].Value, plain(node.Content[i+1]))
		}
		return o
	case yaml.SequenceNode:
		out := make([]any, 0, len(node.Content))
		for _, v := range node.Content {
			out = append(out, plain(v))
		}
		return out
	case yaml.AliasNode:
		return plain(node.Alias)
	default:
		var v any
		if err := node.Decode(&v); err != nil {
			return node.Value
		}
		if _, isTime := v.(interface{ Unix() int64 }); isTime {
			return node.Value
		}
		return v
	}
}
