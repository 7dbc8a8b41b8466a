package repo

import (
	"gorm.io/gorm"

	"sundry/ports"
)

// SortColumn is a column by which lists are sorted.
type SortColumn struct {
	// SQL is the column, or an expression of columns that is never NULL.
	SQL string
	// Text is set for texts; all others are whole numbers.
	Text bool
	// Indexed is set where an index has the creator's id, this and the id. Only with one are all rows sorted: of the
	// others the newest ports.NewestRows, so that no page costs more as the table grows.
	Indexed bool
}

// Sorts are the columns of a list by the names of its sorts.
type Sorts map[string]SortColumn

// Apply reports whether a sort is by one of the columns.
func (s Sorts) Apply(by ports.Sort) bool { _, ok := s[by.By]; return ok }

// sortedRow is the place of a row in a sorted list.
type sortedRow struct {
	ID     string
	Number int64
	Text   string
	Sorted int64 // how many rows were sorted; 0 for all
}

// ListPage loads one page of a query of a model, in the order of one of the columns where its Sort names one, else
// newest first or oldest first, and converts its rows.
func ListPage[R Row, T any](b *Base, op string, query *gorm.DB, page ports.Page, sorts Sorts,
	convert func(R) T) (ports.List[T], error) {
	if sorts.Apply(page.Sort) {
		return listSorted(b, op, query, page, sorts, convert)
	}
	return ListByID(b, op, query, page, convert)
}

// listSorted loads one page of a query of a model in the order of one of the columns, and converts its rows.
func listSorted[R Row, T any](b *Base, op string, query *gorm.DB, page ports.Page, sorts Sorts,
	convert func(R) T) (list ports.List[T], err error) {
	query = query.Session(&gorm.Session{}) // it is run twice
	places, err := b.sortedPlaces(query, page, sorts[page.Sort.By])
	if err != nil || len(places) == 0 {
		return list, b.Failure(op, err)
	}
	list.Partial = places[0].Sorted >= ports.NewestRows
	if len(places) > page.Limit {
		places = places[:page.Limit]
		last := places[page.Limit-1]
		list.Next = ports.Cursor{Value: last.Number, Text: last.Text, ID: last.ID}
	}
	ids := make([]string, len(places))
	for i, place := range places {
		ids[i] = place.ID
	}
	var rows []R
	if err := query.Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return ports.List[T]{}, b.Failure(op, err)
	}
	byID := make(map[string]R, len(rows))
	for _, row := range rows {
		id, _ := row.Identity()
		byID[id] = row
	}
	for _, id := range ids {
		if row, ok := byID[id]; ok { // it was not deleted in between
			list.Items = append(list.Items, convert(row))
		}
	}
	return list, nil
}

// sortedPlaces finds the rows of a page, and one more if there is another page.
func (b *Base) sortedPlaces(query *gorm.DB, page ports.Page, c SortColumn) (places []sortedRow, err error) {
	kind, after := "number", any(page.After.Value)
	if c.Text {
		kind, after = "text", page.After.Text
	}
	comparison, direction := "<", " DESC"
	if page.Sort.Ascending {
		comparison, direction = ">", ""
	}
	behind := func(column string) string { return "(" + column + ", id) " + comparison + " (?, ?)" }
	order := func(column string) string { return column + direction + ", id" + direction }
	if c.Indexed {
		query = query.Select("id, " + c.SQL + " AS " + kind)
		if page.After.ID != "" {
			query = query.Where(behind(c.SQL), after, page.After.ID)
		}
		return places, query.Order(order(c.SQL)).Limit(page.Limit + 1).Scan(&places).Error
	}
	newest := query.Select("id, " + c.SQL + " AS " + kind).Order("id DESC").Limit(ports.NewestRows)
	sorted, values := "WITH newest AS (?) SELECT *, (SELECT COUNT(*) FROM newest) AS sorted FROM newest", []any{newest}
	if page.After.ID != "" {
		sorted, values = sorted+" WHERE "+behind(kind), append(values, after, page.After.ID)
	}
	values = append(values, page.Limit+1)
	return places, b.DB.Raw(sorted+" ORDER BY "+order(kind)+" LIMIT ?", values...).Scan(&places).Error
}
