package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// feed gives the report what go test -json printed, one event a line.
func feed(t *testing.T, r *report, lines string) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		r.handle(e)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		lines  string
		want   totals
		prints []string
		silent []string
	}{
		{
			name: "a passing package is one line with its count and time, and its tests stay silent",
			lines: `{"Action":"start","Package":"sundry/a"}
				{"Action":"run","Package":"sundry/a","Test":"TestOne"}
				{"Action":"output","Package":"sundry/a","Test":"TestOne","Output":"chatter\n"}
				{"Action":"pass","Package":"sundry/a","Test":"TestOne","Elapsed":0.1}
				{"Action":"output","Package":"sundry/a","Output":"ok  \tsundry/a\t0.25s\n"}
				{"Action":"pass","Package":"sundry/a","Elapsed":0.25}`,
			want:   totals{passed: 1},
			prints: []string{"ok       0.25s  sundry/a  1 tests\n"},
			silent: []string{"chatter"},
		},
		{
			name: "a table counts its rows and not itself",
			lines: `{"Action":"run","Package":"sundry/a","Test":"TestTable"}
				{"Action":"run","Package":"sundry/a","Test":"TestTable/one"}
				{"Action":"pass","Package":"sundry/a","Test":"TestTable/one"}
				{"Action":"run","Package":"sundry/a","Test":"TestTable/two"}
				{"Action":"pass","Package":"sundry/a","Test":"TestTable/two"}
				{"Action":"pass","Package":"sundry/a","Test":"TestTable"}
				{"Action":"pass","Package":"sundry/a"}`,
			want: totals{passed: 2},
		},
		{
			name: "a failed row is one failure and prints what the row printed, without go test's marks",
			lines: `{"Action":"run","Package":"sundry/a","Test":"TestTable"}
				{"Action":"run","Package":"sundry/a","Test":"TestTable/one"}
				{"Action":"output","Package":"sundry/a","Test":"TestTable/one","Output":"=== RUN   TestTable/one\n"}
				{"Action":"output","Package":"sundry/a","Test":"TestTable/one","Output":"    a_test.go:9: got 1, want 2\n"}
				{"Action":"fail","Package":"sundry/a","Test":"TestTable/one"}
				{"Action":"fail","Package":"sundry/a","Test":"TestTable"}
				{"Action":"fail","Package":"sundry/a","Elapsed":1}`,
			want: totals{failed: 1},
			prints: []string{"FAIL     1.00s  sundry/a  0 passed, 1 failed, 0 skipped\n",
				"          a_test.go:9: got 1, want 2\n"},
			silent: []string{"==="},
		},
		{
			name: "a table that fails after its rows have passed is a failure of its own",
			lines: `{"Action":"run","Package":"sundry/a","Test":"TestTable"}
				{"Action":"run","Package":"sundry/a","Test":"TestTable/one"}
				{"Action":"pass","Package":"sundry/a","Test":"TestTable/one"}
				{"Action":"fail","Package":"sundry/a","Test":"TestTable"}
				{"Action":"fail","Package":"sundry/a"}`,
			want: totals{passed: 1, failed: 1},
		},
		{
			name: "a skip is counted and prints its reason, though the package passed",
			lines: `{"Action":"run","Package":"sundry/a","Test":"TestOne"}
				{"Action":"output","Package":"sundry/a","Test":"TestOne","Output":"    a_test.go:3: no database\n"}
				{"Action":"skip","Package":"sundry/a","Test":"TestOne"}
				{"Action":"pass","Package":"sundry/a","Elapsed":0.5}`,
			want:   totals{skipped: 1},
			prints: []string{"skip     0.50s  sundry/a  0 passed, 0 failed, 1 skipped\n", "no database"},
		},
		{
			name: "a package that does not build is one failure and prints the compiler's words",
			lines: `{"ImportPath":"sundry/a [sundry/a.test]","Action":"build-output","Output":"a/a.go:3:1: undefined: x\n"}
				{"ImportPath":"sundry/a [sundry/a.test]","Action":"build-fail"}
				{"Action":"start","Package":"sundry/a"}
				{"Action":"output","Package":"sundry/a","Output":"FAIL\tsundry/a [build failed]\n"}
				{"Action":"fail","Package":"sundry/a","Elapsed":0,"FailedBuild":"sundry/a [sundry/a.test]"}`,
			want:   totals{failed: 1},
			prints: []string{"undefined: x"},
		},
		{
			name: "a test that never ended, as after a panic or the time-out, has failed and prints what it printed",
			lines: `{"Action":"run","Package":"sundry/a","Test":"TestStuck"}
				{"Action":"output","Package":"sundry/a","Test":"TestStuck","Output":"panic: test timed out\n"}
				{"Action":"output","Package":"sundry/a","Output":"FAIL\tsundry/a\t20.0s\n"}
				{"Action":"fail","Package":"sundry/a"}`,
			want:   totals{failed: 1},
			prints: []string{"panic: test timed out"},
		},
		{
			name: "the stacks of a time-out are printed though go test takes them for those of the last test that passed",
			lines: `{"Action":"run","Package":"sundry/a","Test":"TestStuck"}
				{"Action":"run","Package":"sundry/a","Test":"TestLast"}
				{"Action":"output","Package":"sundry/a","Test":"TestLast","Output":"chatter\n"}
				{"Action":"output","Package":"sundry/a","Test":"TestLast","Output":"--- PASS: TestLast (0.00s)\n"}
				{"Action":"output","Package":"sundry/a","Test":"TestLast","Output":"panic: test timed out\n"}
				{"Action":"pass","Package":"sundry/a","Test":"TestLast"}
				{"Action":"output","Package":"sundry/a","Output":"FAIL\tsundry/a\t20.0s\n"}
				{"Action":"fail","Package":"sundry/a"}`,
			want:   totals{passed: 1, failed: 1},
			prints: []string{"panic: test timed out"},
			silent: []string{"chatter"},
		},
		{
			name: "a package whose TestMain gives up is one failure",
			lines: `{"Action":"output","Package":"sundry/a","Output":"cannot start\n"}
				{"Action":"fail","Package":"sundry/a"}`,
			want:   totals{failed: 1},
			prints: []string{"cannot start"},
		},
		{
			name: "a package without test files is nothing",
			lines: `{"Action":"start","Package":"sundry/a"}
				{"Action":"output","Package":"sundry/a","Output":"?   \tsundry/a\t[no test files]\n"}
				{"Action":"skip","Package":"sundry/a"}`,
			silent: []string{"sundry/a"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			r := newReport(&out)
			feed(t, r, c.lines)
			if got := r.totals(); got != c.want {
				t.Errorf("counted %v, want %v", got, c.want)
			}
			for _, want := range c.prints {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in\n%s", want, &out)
				}
			}
			for _, unwanted := range c.silent {
				if strings.Contains(out.String(), unwanted) {
					t.Errorf("%q is unwanted in\n%s", unwanted, &out)
				}
			}
		})
	}
}

// A second run counts no test twice, and can only add failures.
func TestASecondRunCountsNoTestTwice(t *testing.T) {
	t.Parallel()
	r := newReport(new(strings.Builder))
	result := func(action string) {
		feed(t, r, `{"Action":"run","Package":"sundry/a","Test":"TestOne"}
			{"Action":"`+action+`","Package":"sundry/a","Test":"TestOne"}
			{"Action":"`+action+`","Package":"sundry/a"}`)
	}
	result("pass")
	result("pass")
	if got, want := r.totals(), (totals{passed: 1}); got != want {
		t.Errorf("passed twice: %v, want %v", got, want)
	}
	result("fail") // the race detector's word
	result("pass")
	if got, want := r.totals(), (totals{failed: 1}); got != want {
		t.Errorf("failed once: %v, want %v", got, want)
	}
}

func TestACommandThatFailsIsNeverAllGreen(t *testing.T) {
	t.Parallel()
	t.Run("a package that it left unfinished has failed", func(t *testing.T) {
		t.Parallel()
		r := newReport(new(strings.Builder))
		feed(t, r, `{"Action":"start","Package":"sundry/a"}
			{"Action":"run","Package":"sundry/a","Test":"TestOne"}
			{"Action":"pass","Package":"sundry/a","Test":"TestOne"}`)
		r.ended(errors.New("exit status 1"))
		if got, want := r.totals(), (totals{passed: 1, failed: 1}); got != want {
			t.Errorf("counted %v, want %v", got, want)
		}
	})
	t.Run("without any package the command is the failure", func(t *testing.T) {
		t.Parallel()
		r := newReport(new(strings.Builder))
		r.ended(errors.New("exit status 1"))
		if got, want := r.totals(), (totals{failed: 1}); got != want {
			t.Errorf("counted %v, want %v", got, want)
		}
	})
}

func TestTheLastLineIsWhatOthersRead(t *testing.T) {
	t.Parallel()
	if got, want := (totals{12, 3, 4}).String(), "12 passed, 3 failed, 4 skipped"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheSlowestTestsIncludeTheirSubtests(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out)
	feed(t, r, `{"Action":"pass","Package":"sundry/a","Test":"TestQuick","Elapsed":0.1}
		{"Action":"run","Package":"sundry/a","Test":"TestTable"}
		{"Action":"pass","Package":"sundry/a","Test":"TestTable/one","Elapsed":2}
		{"Action":"pass","Package":"sundry/a","Test":"TestTable/two","Elapsed":3}
		{"Action":"pass","Package":"sundry/a","Test":"TestTable","Elapsed":9}
		{"Action":"pass","Package":"sundry/a","Elapsed":9}
		{"Action":"pass","Package":"sundry/b","Test":"TestAlone","Elapsed":4}
		{"Action":"pass","Package":"sundry/b","Elapsed":4}`)
	out.Reset()
	r.printSlowest(2)
	if want := "    5.0s  sundry/a  TestTable\n    4.0s  sundry/b  TestAlone\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("printed %q", out.String())
	}
}

func TestReportsOfTwoCommandsAreOne(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	one, other := newReport(&out), newReport(&out)
	feed(t, one, `{"Action":"pass","Package":"sundry/a","Test":"TestOne","Elapsed":1}
		{"Action":"pass","Package":"sundry/a"}
		{"Action":"run","Package":"sundry/b","Test":"TestUnderWay"}`)
	feed(t, other, `{"Action":"fail","Package":"sundry/c","Test":"TestTwo","Elapsed":2}
		{"Action":"fail","Package":"sundry/c"}`)
	other.ended(errors.New("exit status 1"))
	one.add(other)
	if got, want := one.totals(), (totals{passed: 1, failed: 1}); got != want {
		t.Errorf("totals %v, want %v", got, want)
	}
	if got := one.seconds[testName{"sundry/c", "TestTwo"}]; got != 2 {
		t.Errorf("TestTwo took %v seconds, want 2", got)
	}
}
