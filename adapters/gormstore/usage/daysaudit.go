package usage

import (
	"context"
	"maps"
	"slices"

	core "sundry/core/usage"
)

// MiscountedDays implements ports.UsageAudit. What a stream of MAX or LAST has on a day is in none of its periods, so
// only the reports of such meters are compared.
func (t audit) MiscountedDays(_ context.Context, limit int) ([]string, error) {
	const op = "audit days of usage"
	w, err := rollups(t).read("")
	if err != nil || w.daily != w.position {
		return nil, err
	}
	days, err := t.sumsByMeter(op, "usage_days")
	if err != nil {
		return nil, err
	}
	periods, err := t.sumsByMeter(op, "(SELECT s.meter_id, s.aggregation, u.quantity, u.reports FROM usage_rollups u "+
		"JOIN usage_streams s ON s.id = u.stream_id) counted")
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, meter := range slices.Sorted(maps.Keys(periods)) {
		day, period := days[meter], periods[meter]
		if day.Reports != period.Reports || period.Aggregation == string(core.Sum) && day.Quantity != period.Quantity {
			faults = append(faults, meter)
		}
		delete(days, meter)
	}
	for _, meter := range slices.Sorted(maps.Keys(days)) {
		if days[meter].Reports != 0 {
			faults = append(faults, meter)
		}
	}
	return faults[:min(limit, len(faults))], nil
}

// sumsByMeter adds up the rows of a table by meter, without the meters of which reports are deleted.
func (t audit) sumsByMeter(op, table string) (map[string]dayRow, error) {
	columns, groups := "quantity, reports", ""
	if t.OnPostgres() {
		columns, groups = "SUM(quantity) AS quantity, SUM(reports) AS reports", " GROUP BY meter_id, aggregation"
	}
	var rows []dayRow
	err := t.DB.Raw("SELECT meter_id, aggregation, " + columns + " FROM " + table + " WHERE meter_id NOT IN (" +
		"SELECT s.meter_id FROM usage_rollups u JOIN usage_streams s ON s.id = u.stream_id WHERE u.incomplete)" +
		groups).Scan(&rows).Error
	if err != nil {
		return nil, t.Failure(op, err)
	}
	days, err := foldDays(rows)
	sums := map[string]dayRow{}
	for _, row := range days {
		sums[row.MeterID] = row
	}
	return sums, err
}
