package country

import (
	"strings"

	"sundry/core/money"
)

// currencies are the countries by what is paid with there (ISO 4217, list one). Antarctica has no currency.
var currencies = byCountry(map[money.Currency]string{
	"aed": "AE", "afn": "AF", "all": "AL", "amd": "AM", "aoa": "AO", "ars": "AR", "aud": "AU CC CX HM KI NF NR TV",
	"awg": "AW", "azn": "AZ", "bam": "BA", "bbd": "BB", "bdt": "BD", "bhd": "BH", "bif": "BI", "bmd": "BM", "bnd": "BN",
	"bob": "BO", "brl": "BR", "bsd": "BS", "btn": "BT", "bwp": "BW", "byn": "BY", "bzd": "BZ", "cad": "CA", "cdf": "CD",
	"chf": "CH LI", "clp": "CL", "cny": "CN", "cop": "CO", "crc": "CR", "cup": "CU", "cve": "CV", "czk": "CZ",
	"djf": "DJ", "dkk": "DK FO GL", "dop": "DO", "dzd": "DZ", "egp": "EG", "ern": "ER", "etb": "ET",
	"eur": "AD AT AX BE BG BL CY DE EE ES FI FR GF GP GR HR IE IT LT LU LV MC ME MF MQ MT NL PM PT RE SI SK SM TF VA " +
		"YT",
	"fjd": "FJ", "fkp": "FK", "gbp": "GB GG GS IM JE", "gel": "GE", "ghs": "GH", "gip": "GI", "gmd": "GM", "gnf": "GN",
	"gtq": "GT", "gyd": "GY", "hkd": "HK", "hnl": "HN", "htg": "HT", "huf": "HU", "idr": "ID", "ils": "IL PS",
	"inr": "IN", "iqd": "IQ", "irr": "IR", "isk": "IS", "jmd": "JM", "jod": "JO", "jpy": "JP", "kes": "KE", "kgs": "KG",
	"khr": "KH", "kmf": "KM", "kpw": "KP", "krw": "KR", "kwd": "KW", "kyd": "KY", "kzt": "KZ", "lak": "LA", "lbp": "LB",
	"lkr": "LK", "lrd": "LR", "lsl": "LS", "lyd": "LY", "mad": "MA EH", "mdl": "MD", "mga": "MG", "mkd": "MK",
	"mmk": "MM", "mnt": "MN", "mop": "MO", "mru": "MR", "mur": "MU", "mvr": "MV", "mwk": "MW", "mxn": "MX", "myr": "MY",
	"mzn": "MZ", "nad": "NA", "ngn": "NG", "nio": "NI", "nok": "NO BV SJ", "npr": "NP", "nzd": "NZ CK NU PN TK",
	"omr": "OM", "pab": "PA", "pen": "PE", "pgk": "PG", "php": "PH", "pkr": "PK", "pln": "PL", "pyg": "PY", "qar": "QA",
	"ron": "RO", "rsd": "RS", "rub": "RU", "rwf": "RW", "sar": "SA", "sbd": "SB", "scr": "SC", "sdg": "SD", "sek": "SE",
	"sgd": "SG", "shp": "SH", "sle": "SL", "sos": "SO", "srd": "SR", "ssp": "SS", "stn": "ST", "syp": "SY",
	"szl": "SZ", "thb": "TH", "tjs": "TJ", "tmt": "TM", "tnd": "TN", "top": "TO", "try": "TR", "ttd": "TT", "twd": "TW",
	"tzs": "TZ", "uah": "UA", "ugx": "UG", "usd": "US AS BQ EC FM GU IO MH MP PR PW SV TC TL UM VG VI", "uyu": "UY",
	"uzs": "UZ", "ves": "VE", "vnd": "VN", "vuv": "VU", "wst": "WS", "xaf": "CM CF CG GA GQ TD",
	"xcd": "AG AI DM GD KN LC MS VC", "xcg": "CW SX", "xof": "BF BJ CI GW ML NE SN TG", "xpf": "NC PF WF", "yer": "YE",
	"zar": "ZA", "zmw": "ZM", "zwg": "ZW",
})

func byCountry(lists map[money.Currency]string) map[string]money.Currency {
	table := map[string]money.Currency{}
	for currency, codes := range lists {
		for code := range strings.FieldsSeq(codes) {
			table[code] = currency
		}
	}
	return table
}

// Currency returns the currency of a country; "" for what is no country, and for one without a currency.
func Currency(code string) money.Currency { return currencies[code] }
