package dashboard

import "testing"

func TestThePointOfAPriceMoves(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		places int
		want   string
	}{
		{"0.02", 2, "2"}, {"0.0035", 2, "0.35"}, {"29", 2, "2900"}, {"5", 0, "5"}, {"0", 2, "0"}, {".5", 2, "50"},
		{"1.", 3, "1000"}, {"007.10", 1, "71"},
		{"2", -2, "0.02"}, {"0.35", -2, "0.0035"}, {"2900", -2, "29"}, {"12345", -2, "123.45"}, {"0", -2, "0"},
		{"5", 0, "5"}, {"0.000000000001", -3, "0.000000000000001"},
	} {
		if got := shift(c.text, c.places); got != c.want {
			t.Errorf("%s by %d is %s, want %s", c.text, c.places, got, c.want)
		}
	}
}
