package ui

import (
	"fmt"
	"strings"
	"testing"
)

func TestAnAxisHasRoundSteps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		values []int64
		want   string
	}{
		"of nothing":     {nil, " 0"},
		"of one":         {[]int64{1}, "1 0"},
		"of four":        {[]int64{4, 2}, "4 3 2 1 0"},
		"of five":        {[]int64{5}, "6 4 2 0"},
		"of hundreds":    {[]int64{870, 12}, "1000 500 0"},
		"of thousands":   {[]int64{0, 4000}, "4000 3000 2000 1000 0"},
		"below zero":     {[]int64{-30, 250}, "300 200 100 0 -100"},
		"all below zero": {[]int64{-7}, "2 0 -2 -4 -6 -8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chart := Chart{Scale: func(v int64) string { return fmt.Sprint(v) }}
			for _, v := range c.values {
				chart.Points = append(chart.Points, Point{Value: v})
			}
			if got := strings.Join(chart.Ticks(), " "); got != c.want {
				t.Errorf("ticks %s, want %s", got, c.want)
			}
		})
	}
}

func TestAChartDrawsBothTimes(t *testing.T) {
	t.Parallel()
	chart := Chart{Scale: func(int64) string { return "" }, Before: "before", Points: []Point{
		{Value: 4, Before: 2, Name: "Mon", Title: `a < "b"`}, {Value: 0, Before: 4, Name: "Tue"},
	}}
	svg := string(chart.SVG())
	for _, want := range []string{
		`x="2.0" y="0.0" width="356.0" height="160.0"`, `points="180.0,80.0 540.0,0.0"`, "a &lt; &#34;b&#34;",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
	if names := chart.Names(); len(names) != 2 || names[0].Text != "Mon" || names[1].Text != "Tue" || chart.Empty() {
		t.Errorf("names %v", names)
	}
	chart.Points = make([]Point, 90)
	named := 0
	for i := range chart.Points {
		chart.Points[i].Name = "x"
	}
	for _, name := range chart.Names() {
		named += len(name.Text)
	}
	if named != 6 || chart.Names()[89] != (AxisName{Text: "x"}) || !chart.Empty() {
		t.Errorf("%d of 90 days are named", named)
	}
}
