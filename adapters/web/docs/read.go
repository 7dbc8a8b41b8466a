package docs

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// apiDoc is the OpenAPI document as the reference shows it.
type apiDoc struct {
	Title, Version string
	Intro          template.HTML
	Groups         []*apiGroup
	Events         []apiEvent
	Count          int
}

// group returns the group of a page's slug, nil when there is none.
func (d *apiDoc) group(slug string) *apiGroup {
	for _, g := range d.Groups {
		if g.ID == slug {
			return g
		}
	}
	return nil
}

// apiGroup is one tag and its operations: a page.
type apiGroup struct {
	ID, Name string // the page's slug and its heading
	Intro    template.HTML
	Ops      []*apiOp
}

// apiOp is one operation.
type apiOp struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	Auth                      []string // names of the schemes, empty when public
	Params                    []apiField
	Body                      []apiField
	BodyType                  string
	Responses                 []apiResponse
	Samples                   []apiSample
}

// apiResponse is one response of an operation.
type apiResponse struct {
	Status  string
	Text    template.HTML
	Fields  []apiField
	Type    string
	Headers []string
	Example string // JSON; "" for failures and for responses without a body
	Failed  bool   // 4xx or 5xx
}

// docReader turns the document into what the page shows.
type docReader struct {
	*document
	baseURL string
	groups  map[string]*apiGroup
}

func readAPIDoc(raw []byte, baseURL string) (*apiDoc, error) {
	document, err := parseDocument(raw)
	if err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
	r := &docReader{document: document, baseURL: baseURL, groups: map[string]*apiGroup{}}
	doc := r.read()
	doc.Events = listEvents()
	return doc, nil
}

func (r *docReader) read() *apiDoc {
	doc := &apiDoc{Title: r.Info.Title, Version: r.Info.Version, Intro: markup(r.Info.Description)}
	for _, tag := range r.Tags {
		r.group(doc, tag.Name).Intro = markup(tag.Description)
	}
	for _, path := range r.Paths {
		for _, method := range path.value.operations {
			name := "Sundry"
			if len(method.value.Tags) > 0 {
				name = method.value.Tags[0]
			}
			g := r.group(doc, name)
			g.Ops = append(g.Ops, r.operation(method.name, path.name, path.value.parameters, method.value))
			doc.Count++
		}
	}
	doc.Groups = slices.DeleteFunc(doc.Groups, func(g *apiGroup) bool { return len(g.Ops) == 0 })
	return doc
}

// group is the group of a tag; a new one comes after the others.
func (r *docReader) group(doc *apiDoc, name string) *apiGroup {
	if g := r.groups[name]; g != nil {
		return g
	}
	g := &apiGroup{ID: anchor(name), Name: name}
	r.groups[name] = g
	doc.Groups = append(doc.Groups, g)
	return g
}

func (r *docReader) operation(method, path string, shared []parameter, o operation) *apiOp {
	op := &apiOp{
		ID:      anchor(method + " " + path),
		Method:  strings.ToUpper(method),
		Path:    path,
		Summary: o.Summary,
		Text:    markup(o.Description),
		Auth:    r.auth(o),
	}
	for _, p := range slices.Concat(shared, o.Parameters) {
		op.Params = append(op.Params, r.field(r.parameter(p)))
	}
	body := jsonMedia(o.RequestBody.Content)
	if body != nil {
		op.BodyType, op.Body = r.shape(body.Schema, 0)
	}
	for _, code := range o.Responses {
		op.Responses = append(op.Responses, r.newAPIResponse(code.name, r.response(code.value)))
	}
	slices.SortStableFunc(op.Responses, func(a, b apiResponse) int { return cmp.Compare(a.Status, b.Status) })
	op.Samples = r.samples(op, body)
	return op
}

// auth names the schemes that open an operation: its own, else the document's.
func (r *docReader) auth(o operation) []string {
	security := o.Security
	if security == nil {
		security = r.Security
	}
	var names []string
	for _, alternative := range security {
		for _, scheme := range alternative {
			names = append(names, scheme.name)
		}
	}
	return names
}

func (r *docReader) field(p parameter) apiField {
	kind, _ := r.shape(p.Schema, 0)
	f := apiField{
		Name: p.Name, Type: p.In + " · " + kind, Required: p.Required,
		Text: markup(p.Description), Enum: r.enum(p.Schema), Limits: r.limits(p.Schema),
	}
	if p.In == "path" {
		f.Example = p.Example.Value
	}
	return f
}

func (r *docReader) newAPIResponse(status string, response response) apiResponse {
	a := apiResponse{
		Status: status,
		Text:   markup(response.Description),
		Failed: strings.HasPrefix(status, "4") || strings.HasPrefix(status, "5") || status == "default",
	}
	for _, header := range response.Headers {
		a.Headers = append(a.Headers, header.name)
	}
	media := jsonMedia(response.Content)
	if media == nil {
		return a
	}
	a.Type, a.Fields = r.shape(media.Schema, 0)
	if !a.Failed {
		a.Example = indented(r.example(media), "")
	}
	return a
}

// jsonMedia returns the JSON content of a request or a response, nil when there is none with a schema.
func jsonMedia(c content) *mediaType {
	media := c.get("application/json")
	if media == nil || media.Schema == nil {
		return nil
	}
	return media
}

// anchor makes an id of any words: "get /v1/listings/{id}" is get-v1-listings-id.
func anchor(words string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(words), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
