//go:build unix

package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackup_SaysThatTheDiskIsFull(t *testing.T) {
	t.Parallel()
	if !canMount(t) {
		return
	}
	disk := t.TempDir()
	if out, err := mount("tmpfs", disk, "size=1m"); err != nil {
		t.Fatalf("mount: %v\n%s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", disk).Run() })
	d := Embedded(t)
	file := filepath.Join(disk, "backup.db")
	out, err := d.RunToEnd(t, "backup "+file)
	if want := "write the backup: the disk of " + file + " is full"; err == nil || strings.Count(out, "\n") > 1 ||
		!strings.Contains(out, want) {
		t.Errorf("printed %q, %v; want one line with %q", out, err, want)
	}
	if left, err := os.ReadDir(disk); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v; want nothing", left, err)
	}
}
