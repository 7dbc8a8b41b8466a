package web

import (
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// apiDoc is the OpenAPI document as the reference page shows it: read once at start.
type apiDoc struct {
	Title, Version string
	Intro          template.HTML
	Groups         []*apiGroup
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
	Answers                   []apiAnswer
	Curl                      string
	Words                     string // what the filter box searches
}

// apiAnswer is one response of an operation.
type apiAnswer struct {
	Status  string
	Text    template.HTML
	Fields  []apiField
	Type    string
	Headers []string
	Failed  bool // 4xx or 5xx
}

var methods = []string{"get", "post", "put", "patch", "delete"}

// docReader walks the document; ordered nodes keep fields in the order they were written.
type docReader struct {
	root    *yaml.Node
	baseURL string
	broken  []string // references that lead nowhere
}

func readAPIDoc(raw []byte, baseURL string) (*apiDoc, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("openapi document: %w", err)
	}
	if len(file.Content) == 0 {
		return nil, errors.New("openapi document is empty")
	}
	r := &docReader{root: file.Content[0], baseURL: baseURL}
	info := at(r.root, "info")
	doc := &apiDoc{
		Title:   str(info, "title"),
		Version: str(info, "version"),
		Intro:   markup(str(info, "description")),
	}
	groups := map[string]*apiGroup{}
	group := func(name string) *apiGroup {
		if g := groups[name]; g != nil {
			return g
		}
		g := &apiGroup{ID: "tag-" + anchor(name), Name: name}
		groups[name] = g
		doc.Groups = append(doc.Groups, g)
		return g
	}
	for _, tag := range items(at(r.root, "tags")) {
		group(str(tag, "name")).Intro = markup(str(tag, "description"))
	}
	each(at(r.root, "paths"), func(path string, item *yaml.Node) {
		each(item, func(method string, op *yaml.Node) {
			if !slices.Contains(methods, method) {
				return
			}
			name := text("brand")
			if tags := items(at(op, "tags")); len(tags) > 0 {
				name = tags[0].Value
			}
			g := group(name)
			g.Ops = append(g.Ops, r.operation(method, path, item, op))
			doc.Count++
		})
	})
	if len(r.broken) > 0 {
		return nil, fmt.Errorf("openapi document: references lead nowhere: %s", strings.Join(r.broken, ", "))
	}
	doc.Groups = slices.DeleteFunc(doc.Groups, func(g *apiGroup) bool { return len(g.Ops) == 0 })
	return doc, nil
}

func (r *docReader) operation(method, path string, item, node *yaml.Node) *apiOp {
	op := &apiOp{
		ID:      anchor(method + " " + path),
		Method:  strings.ToUpper(method),
		Path:    path,
		Summary: str(node, "summary"),
		Text:    markup(str(node, "description")),
		Auth:    r.auth(node),
	}
	for _, p := range append(items(at(item, "parameters")), items(at(node, "parameters"))...) {
		op.Params = append(op.Params, r.parameter(r.resolve(p)))
	}
	media := jsonMedia(r.resolve(at(node, "requestBody")))
	if schema := at(media, "schema"); schema != nil {
		op.BodyType, op.Body = r.shape(schema)
	}
	each(at(node, "responses"), func(status string, answer *yaml.Node) {
		op.Answers = append(op.Answers, r.answer(status, r.resolve(answer)))
	})
	op.Curl = r.curl(op, media)
	op.Words = strings.ToLower(strings.Join([]string{op.Method, op.Path, op.Summary, str(node, "operationId"), str(node, "description")}, " "))
	return op
}

// auth names the schemes that open an operation: its own, else the document's.
func (r *docReader) auth(node *yaml.Node) []string {
	security := at(node, "security")
	if security == nil {
		security = at(r.root, "security")
	}
	var names []string
	for _, alternative := range items(security) {
		each(alternative, func(name string, _ *yaml.Node) { names = append(names, name) })
	}
	return names
}

func (r *docReader) parameter(p *yaml.Node) apiField {
	kind, _ := r.shape(at(p, "schema"))
	where := str(p, "in")
	f := apiField{
		Name:     str(p, "name"),
		Type:     where + " · " + kind,
		Required: str(p, "required") == "true",
		Text:     markup(str(p, "description")),
	}
	f.Enum = r.enum(at(p, "schema"))
	if where == "path" {
		f.Example = str(p, "example")
	}
	return f
}

func (r *docReader) answer(status string, node *yaml.Node) apiAnswer {
	a := apiAnswer{
		Status: status,
		Text:   markup(str(node, "description")),
		Failed: strings.HasPrefix(status, "4") || strings.HasPrefix(status, "5") || status == "default",
	}
	each(at(node, "headers"), func(name string, _ *yaml.Node) { a.Headers = append(a.Headers, name) })
	if schema := at(jsonMedia(node), "schema"); schema != nil {
		a.Type, a.Fields = r.shape(schema)
	}
	return a
}

// resolve follows a local reference; anything else is itself.
func (r *docReader) resolve(node *yaml.Node) *yaml.Node {
	for range 8 { // a chain longer than this would be a loop
		ref := str(node, "$ref")
		if ref == "" {
			return node
		}
		target := r.root
		for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			target = at(target, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
		if target == nil {
			r.broken = append(r.broken, ref)
			return nil
		}
		node = target
	}
	return nil
}

// jsonMedia is the JSON content of a request or an answer.
func jsonMedia(node *yaml.Node) *yaml.Node { return at(at(node, "content"), "application/json") }

// at gives a member of a mapping, nil when there is none; nil mappings have none.
func at(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			if v := node.Content[i+1]; v.Kind == yaml.AliasNode {
				return v.Alias
			}
			return node.Content[i+1]
		}
	}
	return nil
}

func str(node *yaml.Node, key string) string {
	if v := at(node, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

func items(node *yaml.Node) []*yaml.Node {
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	return node.Content
}

func each(node *yaml.Node, visit func(key string, value *yaml.Node)) {
	if node == nil || node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		visit(node.Content[i].Value, node.Content[i+1])
	}
}

// anchor makes an id of any words: "get /v1/listings/{id}" is get-v1-listings-id.
func anchor(words string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(words), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
}
