package main

import (
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFindChangesOneStepAtATime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"a condition": {"if ok { n = 2 }", []string{"if ok → never", "if ok → always", "n = 2 → deleted", "2 → 3"}},
		"a boundary":  {"ok = n < m", []string{"ok = n < m → deleted", "n < m: < → <="}},
		"operands lose their places one by one": {"ok = a && b && c", []string{
			"ok = a && b && c → deleted", "c → left out of &&", "a → left out of &&", "b → left out of &&",
		}},
		"a result": {
			"return n, false, err",
			[]string{
				"return n, false, err → 0 for n", "return n, false, err → turned round",
				"return n, false, err → nil for err",
			},
		},
		"the results of one call": {"return f()", nil},
		"a loop": {
			"for n < m { f() }", []string{"for n < m → never", "n < m: < → <=", "f() → deleted"},
		},
		"a case": {
			"switch n { case m: f(); n++ }", []string{"case m → does nothing", "f() → deleted", "n++ → deleted"},
		},
		"the same change twice":    {"f(); f()", []string{"f() → deleted", "f() → deleted (2)"}},
		"a declaration is left be": {"x := n; _ = x", []string{"_ = x → deleted"}},
		"a function in a function": {
			"f(func() error { return err })",
			[]string{"f(func() error { return err }) → deleted", "return err → nil for err"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := []byte("package x\nfunc F() (n int, ok bool, err error) {\n" + c.body + "\n}\n")
			found, err := Find("x.go", source)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range found {
				got = append(got, m.Change)
				if _, err := parser.ParseFile(token.NewFileSet(), "x.go", m.Apply(source), 0); err != nil {
					t.Errorf("%s: %v", m.Change, err)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestAMutationThatNoTestNoticesSurvives(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example\n\ngo 1.25\n",
		"rule/rule.go":      "package rule\n\nfunc Adult(age int) bool { return age >= 18 }\n",
		"rule/rule_test.go": "package rule\n\nimport \"testing\"\n\nfunc TestAdult(t *testing.T) { if Adult(17) || !Adult(19) { t.Fail() } }\n",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := packages(root, []string{"rule"})
	if err != nil || len(all) != 1 || all[0].Dir != "rule" {
		t.Fatalf("packages %+v, %v", all, err)
	}
	mutations, err := mutationsOf(all[0])
	if err != nil {
		t.Fatal(err)
	}
	survived, err := testPackage(t.Context(), io.Discard, &all[0], mutations, 2)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	survivors := map[string]bool{}
	for _, m := range survived {
		ids = append(ids, m.ID())
		survivors[m.ID()] = true
	}
	want := []string{"rule/rule.go Adult age >= 18: >= → >", "rule/rule.go Adult 18 → 19"}
	if !slices.Equal(ids, want) {
		t.Errorf("survivors %q of %d mutations, want %q: no test tries the age of 18", ids, len(mutations), want)
	}
	explained := Explained{
		want[0]: "a reason", "rule/rule.go Adult gone": "a reason", "other/x.go F gone": "was not run",
	}
	if got := explained.stale(all, survivors); !slices.Equal(got, []string{"rule/rule.go Adult gone"}) {
		t.Errorf("explanations that nothing needs: %q", got)
	}
}

func TestAPatternExplainsItsFolder(t *testing.T) {
	t.Parallel()
	explained := Explained{"rule/* err → nil for err": "a reason"}
	for id, want := range map[string]bool{
		"rule/rule.go F return n, err → nil for err":     true,
		"rule/rule.go F return n, err → nil for err (2)": true,
		"rule/rule.go F return n, err → 0 for n":         false,
		"other/rule.go F return n, err → nil for err":    false,
	} {
		if got := explained.has(id); got != want {
			t.Errorf("%s: explained %v, want %v", id, got, want)
		}
	}
	ran := []Package{{Dir: "rule", Files: []string{"rule/rule.go"}}}
	if got := explained.stale(ran, map[string]bool{"rule/rule.go F return err → nil for err": true}); len(got) != 0 {
		t.Errorf("%q is not needed, although it explains a survivor", got)
	}
	if got := explained.stale(ran, nil); len(got) != 1 {
		t.Errorf("%q is not needed, want the pattern, which explains nothing", got)
	}
}

func TestExplanationsNeedAReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"# a comment\n\ncore/x.go F a || b → left out | because\n": true,
		"core/x.go F a → b | \n":                                   false,
		"core/x.go F a → b\n":                                      false,
	} {
		file := filepath.Join(t.TempDir(), "explained.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readExplained(file); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTheExplanationsCanBeRead(t *testing.T) {
	t.Parallel()
	if _, err := readExplained("explained.txt"); err != nil {
		t.Error(err)
	}
}

func TestWhatOnlyTestsUseHasNoRules(t *testing.T) {
	t.Parallel()
	all, err := packages("../..", []string{"core/fault"})
	if err != nil || len(all) != 1 || all[0].Dir != "core/fault" {
		t.Errorf("%+v, %v", all, err)
	}
}
