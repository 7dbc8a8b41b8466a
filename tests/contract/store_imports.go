package contract

import (
	"context"
	"errors"
	"maps"
	"testing"

	"sundry/ports"
)

func importCases() storeCases {
	return storeCases{"objects are imported once for an account": objectsAreImportedOnce}
}

func objectsAreImportedOnce(t *testing.T, db Database) {
	store := db.Open(t, StoreOptions{})
	insert := func(creatorID, sourceID, objectID string) error {
		return store.Atomically(t.Context(), func(ctx context.Context, r ports.Repos) error {
			return r.Imports.Insert(ctx, ports.ImportedObject{
				CreatorID: creatorID, Source: "stripe", SourceID: sourceID, ObjectID: objectID, CreatedAt: catalogTime,
			})
		})
	}
	for _, one := range [][3]string{{"crt_1", "cus_a", "cus_1"}, {"crt_1", "cus_A", "cus_2"}, {"crt_2", "cus_a", "cus_3"}} {
		if err := insert(one[0], one[1], one[2]); err != nil {
			t.Fatal(err)
		}
	}
	if err := insert("crt_1", "cus_a", "cus_4"); !errors.Is(err, ports.ErrDuplicate) {
		t.Errorf("again: %v", err)
	}
	found, err := store.Read(t.Context()).Imports.Find(t.Context(), "crt_1", "stripe", []string{"cus_a", "cus_A", "cus_b"})
	if want := map[string]string{"cus_a": "cus_1", "cus_A": "cus_2"}; err != nil || !maps.Equal(found, want) {
		t.Errorf("found %v, %v", found, err)
	}
	other, err := store.Read(t.Context()).Imports.Find(t.Context(), "crt_1", "sandbox", []string{"cus_a"})
	if err != nil || len(other) != 0 {
		t.Errorf("of another source: %v, %v", other, err)
	}
}
