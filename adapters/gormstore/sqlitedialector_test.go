package gormstore

import (
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

func TestSQLiteStatements(t *testing.T) {
	t.Parallel()
	type row struct{ ID, Name string }
	db, err := gorm.Open(sqliteDialector{}, &gorm.Config{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	things := func() *gorm.DB { return db.Table("things") }
	locking := clause.Locking{Strength: clause.LockingStrengthUpdate}
	cases := map[string]struct{ got, want string }{
		"a read without a row lock": {
			things().Clauses(locking).Where(clause.Eq{Column: "things.name", Value: "a"}).Limit(2).
				Find(&[]row{}).Statement.SQL.String(),
			"SELECT * FROM `things` WHERE `things`.`name` = ? LIMIT ? ",
		},
		"an insert that may find its row": {
			things().Clauses(clause.OnConflict{DoNothing: true}).Create(&row{"1", "a"}).Statement.SQL.String(),
			"INSERT INTO `things` (`id`,`name`) VALUES (?,?) ON CONFLICT DO NOTHING",
		},
		"an update": {
			things().Where("id = ?", "1").Select("*").Omit("id").Updates(&row{"1", "b"}).Statement.SQL.String(),
			"UPDATE `things` SET `name`=? WHERE id = ? AND `id` = ?",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.got != c.want {
				t.Errorf("got  %s\nwant %s", c.got, c.want)
			}
		})
	}
}
