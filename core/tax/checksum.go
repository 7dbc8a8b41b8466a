package tax

import "strings"

// The checksums of VAT ids. Each function gets a body of the shape that its rule demands.

func digit(c byte) int { return int(c - '0') }

// number reads decimal digits; twelve at most, so it cannot overflow.
func number(s string) int {
	n := 0
	for i := range len(s) {
		n = n*10 + digit(s[i])
	}
	return n
}

// weighted adds up the first digits of s, each times its weight.
func weighted(s string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += digit(s[i]) * w
	}
	return sum
}

// luhn is the checksum of card numbers: every second digit doubled, counted from the right.
func luhn(s string) bool { return luhnSum(s, 1)%10 == 0 }

// luhnSum doubles every second digit from the right, beginning with the last one when first is 2.
func luhnSum(s string, first int) int {
	sum, factor := 0, first
	for i := len(s) - 1; i >= 0; i-- {
		product := digit(s[i]) * factor
		sum += product/10 + product%10
		factor = 3 - factor
	}
	return sum
}

// mod11x10 is ISO 7064 MOD 11,10, with the check digit last.
func mod11x10(s string) bool {
	product := 10
	for i := range len(s) - 1 {
		sum := (digit(s[i]) + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = 2 * sum % 11
	}
	return (product+digit(s[len(s)-1]))%10 == 1
}

func austrian(s string) bool {
	return (luhnSum(s[1:8], 1)+4+digit(s[8]))%10 == 0
}

// bulgarian checks legal entities (nine digits). Ten digits are a person's, whose four kinds of number share no
// checksum.
func bulgarian(s string) bool {
	if len(s) == 10 {
		return true
	}
	check := weighted(s, 1, 2, 3, 4, 5, 6, 7, 8) % 11
	if check == 10 {
		check = weighted(s, 3, 4, 5, 6, 7, 8, 9, 10) % 11 % 10
	}
	return check == digit(s[8])
}

func cypriot(s string) bool {
	odd := []int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21}
	sum := 0
	for i := range 8 {
		if i%2 == 0 {
			sum += odd[digit(s[i])]
		} else {
			sum += digit(s[i])
		}
	}
	return s[8] == "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[sum%26]
}

// czech checks legal entities (eight digits); longer numbers are birth numbers.
func czech(s string) bool {
	if len(s) > 8 {
		return true
	}
	check := (11 - weighted(s, 8, 7, 6, 5, 4, 3, 2)%11) % 10
	return check == digit(s[7])
}

func dutch(s string) bool {
	if (weighted(s, 9, 8, 7, 6, 5, 4, 3, 2)-digit(s[8]))%11 == 0 {
		return true // a company's number
	}
	remainder := 0 // a person's: ISO 7064 MOD 97,10 over NL and the body, letters counting from A = 10
	for _, c := range "NL" + s {
		if c > '9' {
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		} else {
			remainder = (remainder*10 + int(c-'0')) % 97
		}
	}
	return remainder == 1
}

func british(s string) bool {
	sum := weighted(s, 8, 7, 6, 5, 4, 3, 2) + number(s[7:9])
	return sum%97 == 0 || (sum+55)%97 == 0
}

// french checks the company number, which Monaco's (000…) has no check digit in, and the key in front of it: a number,
// or one with letters.
func french(s string) bool {
	if !strings.HasPrefix(s[2:], "000") && !luhn(s[2:]) {
		return false
	}
	if strings.Trim(s, "0123456789") == "" {
		return number(s[:2]) == (12+3*(number(s[2:])%97))%97
	}
	const characters = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ"
	first, second := strings.IndexByte(characters, s[0]), strings.IndexByte(characters, s[1])
	key := first*34 + second - 100
	if first < 10 {
		key = first*24 + second - 10
	}
	return (number(s[2:])+1+key/11)%11 == key%11
}

func irish(s string) bool {
	if s[1] < '0' || s[1] > '9' { // before 1988: the second character is not a digit
		s = "0" + s[2:7] + s[:1] + s[7:]
	}
	sum := weighted(s, 8, 7, 6, 5, 4, 3, 2)
	if len(s) == 9 {
		sum += 9 * int(s[8]-'A'+1) // a W is 23, which counts nothing
	}
	return s[7] == "WABCDEFGHIJKLMNOPQRSTUV"[sum%23]
}

func lithuanian(s string) bool {
	n := len(s) - 1
	for _, offset := range []int{0, 2} {
		sum := 0
		for i := range n {
			sum += digit(s[i]) * ((i+offset)%9 + 1)
		}
		if check := sum % 11; check < 10 {
			return check == digit(s[n])
		}
	}
	return s[n] == '0'
}

func romanian(s string) bool {
	padded := strings.Repeat("0", 10-len(s)) + s
	return weighted(padded, 7, 5, 3, 2, 1, 7, 5, 3, 2)*10%11%10 == digit(padded[9])
}

func spanish(s string) bool {
	const personLetters = "TRWAGMYFPDXBNJZSQVHLCKE"
	last := s[8]
	switch first := s[0]; {
	case first <= '9':
		return last == personLetters[number(s[:8])%23]
	case first >= 'X':
		return last == personLetters[number(string('0'+first-'X')+s[1:8])%23]
	case strings.IndexByte("KLM", first) >= 0:
		return last == personLetters[number(s[1:8])%23]
	case strings.IndexByte("ABCDEFGHJNPQRSUVW", first) < 0:
		return false
	}
	check := (10 - luhnSum(s[1:8], 2)%10) % 10
	return last == "0123456789"[check] || last == "JABCDEFGHI"[check]
}
