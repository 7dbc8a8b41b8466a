package ui

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Bar is one day of a chart.
type Bar struct {
	Day   time.Time
	Value int64
	Label string // what it shows when pointed at
}

const (
	chartWidth  = 720
	chartHeight = 160
	chartGap    = 4
)

// BarChart draws days as bars. What they show is in a table beside it for those who cannot see it, so the drawing is
// hidden from them. Every number in it is ours and every text is escaped.
func BarChart(bars []Bar) Drawing {
	highest := int64(1)
	for _, b := range bars {
		highest = max(highest, b.Value)
	}
	var svg strings.Builder
	fmt.Fprintf(
		&svg, `<svg class="chart" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true" focusable="false">`,
		chartWidth, chartHeight,
	)
	for line := range 4 {
		y := chartHeight * line / 4
		fmt.Fprintf(&svg, `<line class="chart-line" x1="0" y1="%d" x2="%d" y2="%d"/>`, y, chartWidth, y)
	}
	step := float64(chartWidth) / float64(max(1, len(bars)))
	for i, b := range bars {
		height := float64(b.Value) / float64(highest) * (chartHeight - 8)
		class := "chart-bar"
		if b.Value > 0 {
			height = max(height, 3)
		} else {
			height, class = 2, "chart-bar none"
		}
		fmt.Fprintf(
			&svg, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2"><title>%s</title></rect>`,
			class, float64(i)*step+chartGap/2, chartHeight-height, step-chartGap, height,
			template.HTMLEscapeString(b.Label),
		)
	}
	svg.WriteString(`</svg>`)
	return Drawing{SVG: template.HTML(svg.String())} //nolint:gosec // numbers and escaped text only
}
