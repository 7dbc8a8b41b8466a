package docs

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
	"github.com/pb33f/libopenapi/orderedmap"
)

// apiDoc is the OpenAPI document as the reference page shows it: read once.
type apiDoc struct {
	Title, Version string
	Intro          template.HTML
	Groups         []*apiGroup
	Events         []apiEvent
	Count          int
}

// apiGroup is one tag and its operations.
type apiGroup struct {
	ID, Name string
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

// docReader turns the document's model into what the page shows.
type docReader struct {
	document *v3.Document
	baseURL  string
	groups   map[string]*apiGroup
}

// reading lets one document be read at a time: the library's caches, which are cleared afterwards, are its package's.
var reading sync.Mutex

func readAPIDoc(raw []byte, baseURL string) (*apiDoc, error) {
	if len(raw) == 0 {
		return nil, errors.New("openapi document is empty")
	}
	reading.Lock()
	defer reading.Unlock()
	document, err := libopenapi.NewDocument(raw)
	if err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
	defer func() { // the model is several times as large as what is kept of it, and the library remembers it
		document.Release()
		libopenapi.ClearAllCaches()
	}()
	model, err := document.BuildV3Model()
	if err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
	r := &docReader{document: &model.Model, baseURL: baseURL, groups: map[string]*apiGroup{}}
	doc := r.read()
	doc.Events, err = readEvents()
	return doc, err
}

func (r *docReader) read() *apiDoc {
	doc := &apiDoc{}
	if info := r.document.Info; info != nil {
		doc.Title, doc.Version, doc.Intro = info.Title, info.Version, markup(info.Description)
	}
	for _, tag := range r.document.Tags {
		r.group(doc, tag.Name).Intro = markup(tag.Description)
	}
	for path, item := range r.document.Paths.PathItems.FromOldest() {
		for method, operation := range item.GetOperations().FromOldest() {
			name := "Sundry"
			if len(operation.Tags) > 0 {
				name = operation.Tags[0]
			}
			g := r.group(doc, name)
			g.Ops = append(g.Ops, r.operation(method, path, item, operation))
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
	g := &apiGroup{ID: "tag-" + anchor(name), Name: name}
	r.groups[name] = g
	doc.Groups = append(doc.Groups, g)
	return g
}

func (r *docReader) operation(method, path string, item *v3.PathItem, o *v3.Operation) *apiOp {
	op := &apiOp{
		ID:      anchor(method + " " + path),
		Method:  strings.ToUpper(method),
		Path:    path,
		Summary: o.Summary,
		Text:    markup(o.Description),
		Auth:    r.auth(o),
	}
	for _, p := range slices.Concat(item.Parameters, o.Parameters) {
		op.Params = append(op.Params, parameter(p))
	}
	var media *v3.MediaType
	if o.RequestBody != nil {
		media = jsonMedia(o.RequestBody.Content)
	}
	if media != nil && media.Schema != nil {
		op.BodyType, op.Body = shape(media.Schema, 0)
	}
	if o.Responses != nil {
		for status, response := range o.Responses.Codes.FromOldest() {
			op.Responses = append(op.Responses, newAPIResponse(status, response))
		}
		slices.SortStableFunc(op.Responses, func(a, b apiResponse) int { return cmp.Compare(a.Status, b.Status) })
		if o.Responses.Default != nil {
			op.Responses = append(op.Responses, newAPIResponse("default", o.Responses.Default))
		}
	}
	op.Samples = r.samples(op, media)
	return op
}

// auth names the schemes that open an operation: its own, else the document's.
func (r *docReader) auth(o *v3.Operation) []string {
	security := o.Security
	if security == nil {
		security = r.document.Security
	}
	var names []string
	for _, alternative := range security {
		for name := range alternative.Requirements.FromOldest() {
			names = append(names, name)
		}
	}
	return names
}

func parameter(p *v3.Parameter) apiField {
	kind, _ := shape(p.Schema, 0)
	f := apiField{
		Name: p.Name, Type: p.In + " · " + kind, Required: p.Required != nil && *p.Required,
		Text: markup(p.Description), Enum: enum(p.Schema), Limits: limits(p.Schema),
	}
	if p.In == "path" && p.Example != nil {
		f.Example = p.Example.Value
	}
	return f
}

func newAPIResponse(status string, response *v3.Response) apiResponse {
	a := apiResponse{
		Status: status,
		Text:   markup(response.Description),
		Failed: strings.HasPrefix(status, "4") || strings.HasPrefix(status, "5") || status == "default",
	}
	for name := range response.Headers.FromOldest() {
		a.Headers = append(a.Headers, name)
	}
	media := jsonMedia(response.Content)
	if media == nil || media.Schema == nil {
		return a
	}
	a.Type, a.Fields = shape(media.Schema, 0)
	if !a.Failed {
		a.Example = indented(example(media), "")
	}
	return a
}

// jsonMedia is the JSON content of a request or a response.
func jsonMedia(content *orderedmap.Map[string, *v3.MediaType]) *v3.MediaType {
	if content == nil {
		return nil
	}
	return content.GetOrZero("application/json")
}

// resolved is the schema behind a proxy, nil for none.
func resolved(proxy *base.SchemaProxy) *base.Schema {
	if proxy == nil {
		return nil
	}
	return proxy.Schema()
}

// anchor makes an id of any words: "get /v1/listings/{id}" is get-v1-listings-id.
func anchor(words string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(words), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
