// Package pdf renders documents for people: A4, one column, searchable text in embedded fonts.
package pdf

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"codeberg.org/go-pdf/fpdf"

	"sundry/ports"
)

// Measures in millimeters, and sizes of type in points.
const (
	font        = "dejavu"
	margin      = 20
	width       = 210 - 2*margin
	line        = 5
	amountWidth = 35
	countWidth  = 30
	textWidth   = width - amountWidth - countWidth
	labelWidth  = 45
	stampWidth  = 40
	rule        = 200 // gray of the lines
	titleSize   = 18
	bodySize    = 10
	smallSize   = 8
)

// Renderer implements ports.Documents. It keeps what it has rendered, so that asking for one document over and over,
// which needs no sign-in, costs nothing.
type Renderer struct{ cache cache }

var _ ports.Documents = (*Renderer)(nil)

// New returns a renderer.
func New() *Renderer { return &Renderer{cache{kept: map[[sha256.Size]byte][]byte{}}} }

// page is one document under way.
type page struct {
	pdf *fpdf.Fpdf
	ports.Document
}

// PDF implements ports.Documents.
func (r *Renderer) PDF(d ports.Document) ([]byte, error) {
	key := keyOf(d)
	if content := r.cache.get(key); content != nil {
		return content, nil
	}
	content, err := render(d)
	if err == nil {
		r.cache.keep(key, content)
	}
	return content, err
}

// addFont gives the document a copy of a font: fpdf writes into the bytes that it reads.
func (p page) addFont(name, style string, content []byte) {
	p.pdf.AddUTF8FontFromBytes(name, style, bytes.Clone(content))
}

func render(d ports.Document) ([]byte, error) {
	p := page{fpdf.New("P", "mm", "A4", ""), d}
	p.pdf.SetMargins(margin, margin, margin)
	p.pdf.SetAutoPageBreak(true, margin)
	p.addFont(font, "", regular())
	p.addFont(font, "B", bold())
	p.pdf.SetTitle(clean(d.Title+" "+d.Number), true)
	p.pdf.SetCatalogSort(true) // the same document, the same bytes
	p.pdf.SetCreationDate(d.IssuedAt.UTC())
	p.pdf.SetModificationDate(d.IssuedAt.UTC())
	p.footer()
	p.pdf.AddPage()
	p.head()
	p.parties()
	p.facts()
	p.lines()
	p.totals()
	p.notes()
	var out bytes.Buffer
	if err := p.pdf.Output(&out); err != nil {
		return nil, fmt.Errorf("render %s %s: %w", d.Title, d.Number, err)
	}
	return out.Bytes(), nil
}

func (p page) footer() {
	p.pdf.AliasNbPages("{pages}")
	p.pdf.SetFooterFunc(func() {
		p.pdf.SetY(-margin + line)
		p.style("", smallSize, true)
		p.cell(width, line, clean(fmt.Sprintf("%s %s · %d / {pages}", p.Title, p.Number, p.pdf.PageNo())), "", "C")
	})
}

func (p page) style(weight string, size float64, muted bool) {
	p.pdf.SetFont(font, weight, size)
	shade := 20
	if muted {
		shade = 100
	}
	p.pdf.SetTextColor(shade, shade, shade)
}

// head writes the title, with the stamp at its right.
func (p page) head() {
	top := p.pdf.GetY()
	if p.Stamp != "" {
		p.style("B", titleSize, false)
		p.pdf.SetTextColor(190, 60, 20)
		p.pdf.SetDrawColor(190, 60, 20)
		wide := p.widthOf(clean(p.Stamp)) + 2*line
		p.pdf.SetX(margin + width - wide)
		p.cell(wide, 2*line, clean(p.Stamp), "1", "C")
		p.pdf.SetDrawColor(rule, rule, rule)
	}
	p.pdf.SetXY(margin, top)
	p.style("B", titleSize, false)
	p.block(width-stampWidth, 2*line, clean(p.Title))
	p.pdf.Ln(line)
}

// parties writes seller and buyer side by side.
func (p page) parties() {
	top, bottom := p.pdf.GetY(), 0.0
	for i, party := range []struct {
		label string
		who   ports.DocumentParty
	}{{p.Headings.From, p.Seller}, {p.Headings.To, p.Buyer}} {
		left := float64(margin + i*width/2)
		write := func(text string) {
			if text = clean(text); text != "" {
				p.pdf.SetX(left)
				p.block(width/2-line, line, text)
			}
		}
		p.pdf.SetXY(left, top)
		p.style("", smallSize, true)
		write(party.label)
		p.style("B", bodySize, false)
		write(party.who.Name)
		p.style("", bodySize, false)
		for _, text := range party.who.Lines {
			write(text)
		}
		if party.who.TaxID != "" {
			write(p.Headings.VATID + " " + party.who.TaxID)
		}
		bottom = max(bottom, p.pdf.GetY())
	}
	p.pdf.SetXY(margin, bottom+2*line)
}

func (p page) facts() {
	for _, fact := range p.Facts {
		p.style("", bodySize, true)
		p.cell(labelWidth, line, clean(fact.Label), "", "L")
		p.style("", bodySize, false)
		p.block(width-labelWidth, line, clean(fact.Value))
	}
	p.pdf.Ln(line)
}

func (p page) lines() {
	p.pdf.SetDrawColor(rule, rule, rule)
	p.style("", smallSize, true)
	p.cell(textWidth, line, clean(p.Headings.Description), "B", "L")
	quantity := ""
	if slices.ContainsFunc(p.Lines, func(l ports.DocumentLine) bool { return l.Quantity != "" }) {
		quantity = p.Headings.Quantity
	}
	p.cell(countWidth, line, clean(quantity), "B", "R")
	p.cell(amountWidth, line, clean(p.Headings.Amount), "B", "R")
	p.pdf.Ln(line)
	p.pdf.Ln(1)
	for _, item := range p.Lines {
		p.item(item)
	}
	p.pdf.CellFormat(width, 1, "", "B", 1, "", false, 0, "")
	p.pdf.Ln(line / 2)
}

// item writes one line of the table; its figures stand beside the first line of the description.
func (p page) item(item ports.DocumentLine) {
	description := clean(item.Description)
	p.style("", bodySize, false)
	rows := max(len(p.split(description, textWidth-2)), 1)
	if _, height := p.pdf.GetPageSize(); p.pdf.GetY()+float64(min(rows, 10)*line) > height-margin {
		p.pdf.AddPage()
	}
	top := p.pdf.GetY()
	p.pdf.SetX(margin + textWidth)
	p.cell(countWidth, line, clean(item.Quantity), "", "R")
	p.cell(amountWidth, line, clean(p.Locale.Money(item.Amount)), "", "R")
	p.pdf.SetXY(margin, top)
	p.block(textWidth-2, line, description)
	if item.Detail != "" {
		p.style("", smallSize, true)
		p.block(textWidth-2, line-1, clean(item.Detail))
	}
	p.pdf.Ln(1)
}

func (p page) totals() {
	for _, total := range p.Totals {
		weight := ""
		if total.Strong {
			weight = "B"
		}
		p.style(weight, bodySize, false)
		p.cell(width-amountWidth, line+1, clean(total.Label), "", "R")
		p.cell(amountWidth, line+1, clean(p.Locale.Money(total.Amount)), "", "R")
		p.pdf.Ln(line + 1)
	}
	p.pdf.Ln(2 * line)
}

func (p page) notes() {
	p.style("", smallSize, true)
	for _, note := range p.Notes {
		p.block(width, line-1, clean(note))
		p.pdf.Ln(1)
	}
}
