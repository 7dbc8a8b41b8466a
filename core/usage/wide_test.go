package usage

import (
	"math/big"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// words draws words of every size, the largest and none among them.
var words = rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 2), rapid.Just(uint64(0)), rapid.Just(^uint64(0)))

func drawWide(t *rapid.T, name string) (w wide) {
	for i := range rapid.IntRange(0, len(w)).Draw(t, name+"'s length") {
		w[i] = words.Draw(t, name)
	}
	return w
}

func ofWide(w wide) *big.Int {
	n := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		n.Or(n.Lsh(n, bits.UintSize), new(big.Int).SetUint64(w[i]))
	}
	return n
}

// TestWideIntegersCalculateAsBigOnesDo compares every operation with math/big, overflows included.
func TestWideIntegersCalculateAsBigOnesDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			compareWithBig(t, drawWide(t, "a"), drawWide(t, "b"), max(words.Draw(t, "n"), 1), words.Draw(t, "m"),
				rapid.IntRange(0, 2*scale).Draw(t, "decimals"))
		}
	})
}

// TestAProductThatLosesAllItsWordsDoesNotFit is a case that hardly any draw meets.
func TestAProductThatLosesAllItsWordsDoesNotFit(t *testing.T) {
	t.Parallel()
	if product, ok := (wide{0, 0, 0, 1 << 63}).times(wide{0, 2}); ok {
		t.Errorf("2^320 is %v", product)
	}
}

var limit = new(big.Int).Lsh(big.NewInt(1), 256)

func compareWithBig(t *rapid.T, a, b wide, n, m uint64, decimals int) {
	bigA, bigB, bigN := ofWide(a), ofWide(b), new(big.Int).SetUint64(n)
	want := func(name string, got wide, ok bool, want *big.Int) {
		if fits := want.Cmp(limit) < 0; ok != fits || ok && ofWide(got).Cmp(want) != 0 {
			t.Fatalf("%s of %s and %s is %s, %v; want %s", name, bigA, bigB, ofWide(got), ok, want)
		}
	}
	sum, ok := a.add(b)
	want("the sum", sum, ok, new(big.Int).Add(bigA, bigB))
	product, ok := a.mulAdd(n, m)
	want("the product", product, ok, new(big.Int).Add(new(big.Int).Mul(bigA, bigN), new(big.Int).SetUint64(m)))
	short := wide{b[0], b[1]}
	product, ok = a.times(short)
	want("the wide product", product, ok, new(big.Int).Mul(bigA, ofWide(short)))
	quotient, rest := a.divide(n)
	wantQuotient, wantRest := new(big.Int).QuoRem(bigA, bigN, new(big.Int))
	if want("the quotient", quotient, true, wantQuotient); rest != wantRest.Uint64() {
		t.Fatalf("%s by %d leaves %d, want %s", bigA, n, rest, wantRest)
	}
	order := bigA.Cmp(bigB)
	if a.compare(b) != order || a.isZero() != (bigA.Sign() == 0) {
		t.Fatalf("%s compared with %s is %d", bigA, bigB, a.compare(b))
	}
	if order >= 0 {
		want("the difference", a.sub(b), true, new(big.Int).Sub(bigA, bigB))
	}
	exact := new(big.Rat).SetFrac(bigA, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)),
		nil)).FloatString(decimals)
	if strings.Contains(exact, ".") {
		exact = strings.TrimRight(strings.TrimRight(exact, "0"), ".")
	}
	if got := a.decimal(decimals); got != exact {
		t.Fatalf("%s at %d decimals is %s, want %s", bigA, decimals, got, exact)
	}
}
