package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// difference lists the changes of a catalog, one per line: "+" is new, "-" is removed, "~" has another value.
func difference(before, after Document) []string {
	was, is := flatten(before), flatten(after)
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(merge(was, is))) {
		old, there := was[path]
		now, here := is[path]
		switch {
		case !there && !below(path, was, is):
			lines = append(lines, fmt.Sprintf("+ %s: %s", path, now))
		case !here && !below(path, is, was):
			lines = append(lines, fmt.Sprintf("- %s: %s", path, old))
		case there && here && old != now && !hasMembers(path, was, is):
			lines = append(lines, fmt.Sprintf("~ %s: %s → %s", path, old, now))
		}
	}
	return lines
}

// below reports whether a path is part of something that one side does not have at all, which is a line of its own.
func below(path string, without, with map[string]string) bool {
	for i := strings.LastIndexByte(path, '.'); i > 0; i = strings.LastIndexByte(path[:i], '.') {
		parent := path[:i]
		if _, there := with[parent]; there {
			if _, here := without[parent]; !here {
				return true
			}
		}
	}
	return false
}

// hasMembers reports whether a path is an object with members: they show what has changed.
func hasMembers(path string, sides ...map[string]string) bool {
	for _, side := range sides {
		for other := range side {
			if strings.HasPrefix(other, path+".") {
				return true
			}
		}
	}
	return false
}

func merge(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// flatten maps a path of keys to each value of the document. An object with a key of its own is there as a whole,
// under its common name, and member by member.
func flatten(d Document) map[string]string {
	out := map[string]string{}
	for _, l := range d.Listings {
		path := "listing " + l.Key
		out[path] = l.Title
		plain := l
		plain.Variants, plain.Plans, plain.PaymentLinks = nil, nil, nil
		members(out, path, plain)
		for _, v := range l.Variants {
			out[path+".variant "+v.Key] = v.Name
			members(out, path+".variant "+v.Key, v)
		}
		for _, p := range l.Plans {
			out[path+".plan "+p.Key] = p.Name
			members(out, path+".plan "+p.Key, p)
		}
		for _, link := range l.PaymentLinks {
			name := strings.Join(strings.Fields(path+".payment link "+link.key()), " ")
			out[name] = "active"
			if link.inactive() {
				out[name] = "inactive"
			}
		}
	}
	flattenParts(out, d)
	return out
}

// flattenParts adds what is beside the listings.
func flattenParts(out map[string]string, d Document) {
	if d.Discounts != nil {
		for _, code := range *d.Discounts {
			out["discount "+code.Code] = code.Duration
			members(out, "discount "+code.Code, code)
		}
	}
	if d.Usage != nil {
		for _, meter := range d.Usage.Meters {
			out["meter "+meter.EventName] = meter.Name
			members(out, "meter "+meter.EventName, meter)
		}
		for _, product := range d.Usage.Products {
			path := "product " + product.Name + " (" + product.Type + ")"
			out[path] = strconv.Itoa(len(product.Prices)) + " prices"
			for _, price := range product.Prices {
				tiers, err := json.Marshal(price.Tiers)
				rates, ratesErr := json.Marshal(price.Rates)
				if err != nil || ratesErr != nil {
					continue // of what was read from a store or a request there is no such error
				}
				name := strings.Join([]string{"price", price.BillingScheme, price.Currency, price.Recurring.Interval, price.TiersMode}, " ")
				if price.PackageSize != nil {
					name += " of " + strconv.FormatInt(*price.PackageSize, 10)
				}
				if price.Minimum != nil {
					name += " at least " + strconv.FormatInt(*price.Minimum, 10)
				}
				if len(price.Rates) > 0 {
					name += " by " + string(rates)
				}
				out[path+"."+name+" "+string(tiers)] = "made"
			}
		}
	}
	if d.Availability != nil {
		members(out, "availability", d.Availability)
	}
	if d.Endpoints != nil {
		for _, endpoint := range *d.Endpoints {
			out["endpoint "+endpoint.URL] = strings.Join(endpoint.Events, ", ")
			members(out, "endpoint "+endpoint.URL, endpoint)
		}
	}
	if d.Branding != nil {
		members(out, "branding", d.Branding)
	}
}

// members adds the members of a value, as JSON.
func members(out map[string]string, path string, value any) {
	raw, err := json.Marshal(value)
	var all map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		return // of plain data there is no such error
	}
	for name, member := range all {
		if name != "key" && string(member) != "null" {
			out[path+"."+name] = string(member)
		}
	}
}
