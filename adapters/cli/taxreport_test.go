package cli

import (
	"strings"
	"testing"
)

func TestTheTaxReportCommandIsReadStrictly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want []string // a part of each line of the error; none = accepted
	}{
		"a quarter": {[]string{"2026-10-01", "2027-01-01"}, nil},
		"a day":     {[]string{"2028-02-29", "2028-03-01"}, nil},
		"an empty time": {
			[]string{"2026-10-01", "2026-10-01"}, []string{"2026-10-01 is not before 2026-10-01"},
		},
		"a time that runs back": {
			[]string{"2027-01-01", "2026-10-01"}, []string{"2027-01-01 is not before 2026-10-01"},
		},
		"no day that ever was": {
			[]string{"2026-02-29", "2026-10-01"}, []string{`FROM must be a day such as 2026-10-01: "2026-02-29"`},
		},
		"two faults": {
			[]string{"Q4", "1/1/2027"},
			[]string{
				`FROM must be a day such as 2026-10-01: "Q4"`, `UNTIL must be a day such as 2026-10-01: "1/1/2027"`,
			},
		},
		"a day before documents": {[]string{"0001-01-01", "2026-10-01"}, []string{`"0001-01-01"`}},
		"cells":                  {[]string{"--cell", "a", "--cell=b", "2026-10-01", "2027-01-01"}, nil},
	} {
		_, err := parseTaxReportCommand(c.args)
		var lines []string
		if err != nil {
			lines = strings.Split(err.Error(), "\n")
		}
		if len(lines) != len(c.want) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, part := range c.want {
			if !strings.Contains(lines[i], part) {
				t.Errorf("%s: %q, want %q in it", name, lines[i], part)
			}
		}
	}
}

func TestTheTaxReportShowsHowItIsCalled(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"2026-10-01"}, {"2026-10-01", "2027-01-01", "eur"}} {
		if err := Run(t.Context(), append([]string{"tax-report"}, args...), Host{}); err == nil ||
			!strings.HasPrefix(err.Error(), "usage: sundry tax-report [--cell FILE …] FROM UNTIL\n") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
