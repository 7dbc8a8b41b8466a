package browser

import (
	"testing"
)

func TestRowsAreAddedToTheTiersOfAPrice(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/usage/prices/new")
	b.fill("#price-name", "Pages")
	b.expectConsole("400") // the refused form
	tier := func(row, upTo, unit string) {
		b.fill("#price-tiers"+row+"-upTo", upTo)
		b.fill("#price-tiers"+row+"-unitAmountDecimal", unit)
	}
	tier("0", "10", "0.30")
	tier("1", "20", "0.20")
	tier("2", "15", "0.10")
	b.click("#price-tiers [data-add]")
	b.wait(`document.activeElement.id === "price-tiers3-upTo" && document.activeElement.value === ""`)
	b.wait(`document.querySelector("#price-tiers .entry:nth-of-type(4) legend").textContent === "Tier 4"`)
	b.click("#price-tiers [data-add]")
	b.fill("#price-tiers4-unitAmountDecimal", "0.05")
	b.accessible("tiers with rows that were added")
	b.click("#price .primary")
	b.sees("the tiers must rise")
	b.wait(`document.querySelector("#price-tiers2-upTo").getAttribute("aria-invalid") === "true"`)
	b.wait(`document.querySelector("#price-tiers4-unitAmountDecimal").value === "0.05"`)
	b.accessible("tiers that are refused")
	b.fill("#price-tiers2-upTo", "30")
	b.click("#price .primary")
	b.sees("Above 30")
	b.sees("0.05 EUR")
}

func TestTiersHaveRowsWithoutAScript(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	b := s.atDashboard()
	b.scripts(false)
	b.open(s.URL + "/dashboard/usage/prices/new")
	b.fill("#price-name", "Pages")
	b.fill("#price-tiers0-upTo", "10")
	b.fill("#price-tiers0-unitAmountDecimal", "0")
	b.fill("#price-tiers2-unitAmountDecimal", "0.05")
	b.click("#price .primary")
	b.sees("The first 10")
	b.sees("0.05 EUR")
}

func TestAQuestionThatIsAddedHasLabelsOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	b := s.atDashboard()
	b.open(s.URL + "/dashboard/listings/" + s.single.ID + "/edit")
	b.click("#listing-metadata-questions [data-add]")
	b.wait(`document.activeElement.name === "metadata.questions3.label"`)
	b.click(`#listing-metadata-questions .entry:last-of-type .check label`)
	required := `[...document.querySelectorAll("#listing-metadata-questions [type=checkbox]")]
		.map((box) => box.checked).join()`
	if got, want := eval[string](b, required), "false,false,false,true"; got != want {
		t.Errorf("a click on the last question's label makes the boxes %s, want %s", got, want)
	}
	b.accessible("questions with a row that was added")
}
