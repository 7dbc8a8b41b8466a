package pdf

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"sundry/ports"
)

func TestRenderingLeavesTheFontsAsTheyAre(t *testing.T) {
	t.Parallel()
	fonts := map[string][]byte{"regular": regular(), "bold": bold(), "emoji": emoji()}
	before := map[string][]byte{}
	for name, font := range fonts {
		before[name] = bytes.Clone(font)
	}
	var renders sync.WaitGroup
	for range 2 {
		renders.Go(func() {
			_, err := render(ports.Document{
				Title: "Invoice", Number: "I-1", IssuedAt: time.Unix(1_800_000_000, 0), Notes: []string{"Ada 🎨 🦊 ✨ 👍 📚 🏡"},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	renders.Wait()
	for name, font := range fonts {
		if !bytes.Equal(font, before[name]) {
			t.Errorf("the %s font has changed", name)
		}
	}
}
