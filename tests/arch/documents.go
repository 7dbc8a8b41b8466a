package arch

import (
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// repository holds the names that documents may use.
type repository struct {
	// files and folders, by their paths below the root; names are the last elements of these.
	paths, names map[string]bool
	// declared has Name and Type.Member of each package, by its folder; folders are those of each package's name.
	declared map[string]map[string]bool
	folders  map[string][]string
	// words are the settings, and the texts in the code: codes of errors, tasks, events.
	words map[string]bool
}

// readRepository reads what is below root.
func readRepository(root string, all []source, words []string) (repository, error) {
	r := repository{
		paths: map[string]bool{}, names: map[string]bool{}, words: map[string]bool{},
		declared: map[string]map[string]bool{}, folders: map[string][]string{},
	}
	for _, word := range words {
		r.words[word] = true
	}
	for _, s := range all {
		r.declare(s)
	}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", ".cache", "data", "node_modules"}, entry.Name()) {
			return filepath.SkipDir
		}
		relative, err := filepath.Rel(root, file)
		r.paths[filepath.ToSlash(relative)], r.names[entry.Name()] = true, true
		return err
	})
	return r, err
}

// declare adds what a file declares, tests aside.
func (r repository) declare(s source) {
	if s.isTest() {
		return
	}
	dir, name := s.dir(), s.file.Name.Name
	if r.declared[dir] == nil {
		r.declared[dir] = map[string]bool{}
		r.folders[name] = append(r.folders[name], dir)
	}
	known := r.declared[dir]
	for _, declaration := range s.file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			known[receiver(d)+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				declareSpec(known, spec)
			}
		}
	}
}

func declareSpec(known map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			known[name.Name] = true
		}
	case *ast.TypeSpec:
		known[spec.Name.Name] = true
		var members *ast.FieldList
		switch t := spec.Type.(type) {
		case *ast.StructType:
			members = t.Fields
		case *ast.InterfaceType:
			members = t.Methods
		default:
			return
		}
		for _, member := range members.List {
			for _, name := range member.Names {
				known[spec.Name.Name+"."+name.Name] = true
			}
		}
	}
}

// receiver returns the type of a method with a dot, "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name := ""
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if ident, ok := n.(*ast.Ident); ok && name == "" {
			name = ident.Name + "."
		}
		return true
	})
	return name
}

var (
	fenced   = regexp.MustCompile("(?s)(?:^|\n) *```.*?\n *```")
	inCode   = regexp.MustCompile("`([^`\n]+)`")
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	goName   = regexp.MustCompile(`^([a-z][a-z0-9/]*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)(?:\(.*\))?$`)
	typeName = regexp.MustCompile(`^([A-Z]\w*\.[A-Z]\w*)$`)
	word     = regexp.MustCompile(`^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$`)
	kind     = regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)
	filePath = regexp.MustCompile(`^[\w.-]+(?:/[\w.-]+)*$`)
	fileName = regexp.MustCompile(`^[\w-]+\.(?:go|json|yaml|yml|sql|md|html|css|js|txt)$`)
)

// documentFaults finds what a document names in backticks or links to that is not there.
func (r repository) documentFaults(document, text string) []string {
	var faults []string
	text = fenced.ReplaceAllString(text, "")
	for _, found := range inCode.FindAllStringSubmatch(text, -1) {
		if why := r.codeFault(found[1]); why != "" {
			faults = append(faults, document+": `"+found[1]+"`: "+why)
		}
	}
	for _, found := range linked.FindAllStringSubmatch(text, -1) {
		target, _, _ := strings.Cut(found[1], "#")
		if target != "" && !strings.Contains(target, "://") && !r.paths[path.Join(path.Dir(document), target)] {
			faults = append(faults, document+": "+found[1]+": there is no such file")
		}
	}
	return faults
}

// codeFault returns why code names nothing; "" where it names something, or nothing that can be looked up.
func (r repository) codeFault(code string) string {
	if match := goName.FindStringSubmatch(code); match != nil && !fileName.MatchString(code) {
		folders := r.folders[match[1]]
		if strings.Contains(match[1], "/") {
			folders = []string{match[1]}
		}
		if !slices.ContainsFunc(folders, func(dir string) bool { return r.declared[dir][match[2]] }) {
			return "no such package declares it"
		}
		return ""
	}
	switch {
	case typeName.MatchString(code):
		for _, known := range r.declared {
			if known[code] {
				return ""
			}
		}
		return "no type has it"
	case strings.HasPrefix(code, "TEST_"), strings.HasPrefix(code, "OTEL_"): // the tests' and OpenTelemetry's
		return ""
	case word.MatchString(code) && !r.words[code]:
		return "it is neither a setting nor the code of an error"
	case kind.MatchString(code) && !fileName.MatchString(code) && !r.words[code]:
		return "it is neither a task nor an event"
	case strings.HasPrefix(code, "data/"): // what a run writes
	case fileName.MatchString(code) && !r.names[code],
		strings.Contains(code, "/") && filePath.MatchString(code) && !r.paths[code]:
		return "there is no such file or folder"
	}
	return ""
}

// textsIn returns the texts in the code and its tests, but for the samples here.
func textsIn(all []source) []string {
	var values []string
	for _, s := range all {
		if s.dir() == "tests/arch" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if value, err := strconv.Unquote(literal.Value); err == nil {
					values = append(values, value)
				}
			}
			return true
		})
	}
	return values
}

// citation matches a reference to a section of a document, which readers of the repository do not have.
var citation = regexp.MustCompile(`// .*(?:contract §|§ ?[0-9]|\bthe specification\b)`)

// citationFaults finds comments that cite such a document.
func citationFaults(file, text string) []string {
	var faults []string
	for i, line := range strings.Split(text, "\n") {
		if citation.MatchString(line) {
			faults = append(faults, file+":"+strconv.Itoa(i+1)+": write it down in docs, or name what is meant")
		}
	}
	return faults
}
