package ui

import (
	"fmt"
	"html/template"
	"strings"
)

// Point is a bar of a chart, beside it the value of the time before.
type Point struct {
	Value, Before int64
	Name          string // of its day or month, below the axis
	Title         string // what it shows when pointed at
}

// Choice is one of a few views of a chart.
type Choice struct {
	Label   Words
	Href    string
	Current bool
}

// ChoiceGroup holds the alternatives of one question.
type ChoiceGroup struct {
	Label   Words
	Choices []Choice
}

// Chart shows points as bars and the time before as a line. The same is in Table for those who cannot see it.
type Chart struct {
	Groups []ChoiceGroup
	Points []Point
	// Scale writes a value of the axis.
	Scale func(int64) string
	// Now and Before name the two times; Before is "" without a line.
	Now, Before Words
	Table       Table
	// None is shown above a chart without a value.
	None Words
}

const (
	chartWidth  = 720
	chartHeight = 160
	chartGap    = 4
	// chartLines bounds the lines of the axis beside the one at its end.
	chartLines = 4
)

// ChartPart shows a chart.
func ChartPart(title, lead Words, c Chart) Part {
	return Part{Kind: "chart", Title: title, Lead: lead, Data: c}
}

// Empty reports whether nothing happened in either time.
func (c Chart) Empty() bool {
	for _, p := range c.Points {
		if p.Value != 0 || p.Before != 0 {
			return false
		}
	}
	return true
}

// axis returns the lowest and highest value of the axis and the step between its lines: 1, 2 or 5 with zeros.
func (c Chart) axis() (low, high, step int64) {
	for _, p := range c.Points {
		low, high = min(low, p.Value, p.Before), max(high, p.Value, p.Before)
	}
	step = 1
	for factors := []int64{2, 5, 10}; ; {
		base := step
		for _, factor := range factors {
			if -floor(low, step)+ceil(high, step) <= chartLines {
				return floor(low, step) * step, max(ceil(high, step), 1) * step, step
			}
			step = base * factor
		}
	}
}

func ceil(value, step int64) int64 { return (value + step - 1) / step }

func floor(value, step int64) int64 { return -ceil(-value, step) }

// Ticks returns the labels of the axis, the highest first.
func (c Chart) Ticks() []string {
	if c.Empty() {
		return []string{"", c.Scale(0)} // a smallest unit above would mean nothing
	}
	low, high, step := c.axis()
	var ticks []string
	for value := high; value >= low; value -= step {
		ticks = append(ticks, c.Scale(value))
	}
	return ticks
}

// AxisName is a label below the axis; Spare is one that a phone has no space for.
type AxisName struct {
	Text  string
	Spare bool
}

// Names returns the labels below the axis, one for each point: "" where there is no space for it.
func (c Chart) Names() []AxisName {
	names := make([]AxisName, len(c.Points))
	for i := range c.Points {
		every, left := (len(c.Points)+5)/6, len(c.Points)-1-i
		if left%every == 0 {
			names[i] = AxisName{c.Points[i].Name, left/every%2 == 1}
		}
	}
	return names
}

// SVG returns the drawing without its labels. Every number in it is ours and every text is escaped.
func (c Chart) SVG() template.HTML {
	low, high, step := c.axis()
	y := func(value int64) float64 {
		return chartHeight * (1 - float64(value-low)/float64(high-low))
	}
	var svg strings.Builder
	fmt.Fprintf(
		&svg, `<svg class="chart" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true" focusable="false">`,
		chartWidth, chartHeight,
	)
	for value := low; value <= high; value += step {
		class := "chart-line"
		if value == 0 {
			class = "chart-line zero"
		}
		fmt.Fprintf(&svg, `<line class="%s" x1="0" y1="%.1f" x2="%d" y2="%.1f"/>`, class, y(value), chartWidth, y(value))
	}
	width := float64(chartWidth) / float64(max(1, len(c.Points)))
	gap := min(chartGap, width/3)
	var before []string
	for i, p := range c.Points {
		x, top, bottom := float64(i)*width, min(y(p.Value), y(0)), max(y(p.Value), y(0))
		if p.Value != 0 {
			bottom = max(bottom, top+2)
		}
		// The whole height is what is pointed at.
		fmt.Fprintf(
			&svg, `<g class="chart-point"><rect class="chart-hit" x="%.1f" y="0" width="%.1f" height="%d"/>`+
				`<rect class="chart-bar" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2"/><title>%s</title></g>`,
			x, width, chartHeight, x+gap/2, top, width-gap, bottom-top, template.HTMLEscapeString(p.Title),
		)
		before = append(before, fmt.Sprintf("%.1f,%.1f", x+width/2, y(p.Before)))
	}
	if c.Before != "" {
		fmt.Fprintf(&svg, `<polyline class="chart-before" points="%s"/>`, strings.Join(before, " "))
	}
	svg.WriteString(`</svg>`)
	return template.HTML(svg.String()) //nolint:gosec // numbers and escaped text only
}
