//go:build unix

package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// roomyDisk is the size of a server's file system. It takes memory only for what is written.
const roomyDisk = "size=8g"

// canMount reports whether this process may mount file systems, as root on Linux may.
func canMount(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("no disk is filled: only root may mount one")
		return false
	}
	at := t.TempDir()
	if out, err := mount("tmpfs", at, "size=1m"); err != nil {
		t.Logf("no disk is filled: %v %s", err, out)
		return false
	}
	if err := exec.CommandContext(t.Context(), "umount", at).Run(); err != nil {
		t.Fatal(err)
	}
	return true
}

func mount(device, at, options string) (out []byte, err error) {
	return exec.Command("mount", "-t", "tmpfs", "-o", options, device, at).CombinedOutput()
}

// mountDisk gives a server's data, which are not made yet, a small file system of their own.
func (s *server) mountDisk() {
	s.t.Helper()
	s.disk = filepath.Join(s.dir, "disk")
	if err := os.Mkdir(s.disk, 0o700); err != nil {
		s.t.Fatal(err)
	}
	owner := fmt.Sprintf("%s,mode=700,uid=%d,gid=%d", roomyDisk, s.as.Uid, s.as.Gid)
	if out, err := mount("tmpfs", s.disk, owner); err != nil {
		s.t.Fatalf("mount: %v\n%s", err, out)
	}
	s.t.Cleanup(func() { _ = exec.Command("umount", "-l", s.disk).Run() })
	s.run("mkdir", "-m", "700", filepath.Join(s.disk, "data"))
	s.run("ln", "-s", filepath.Join(s.disk, "data"), filepath.Join(s.dir, "data"))
}

// fillDisk leaves no room on a server's file system: that shrinks to what is in it. While much is written that takes a
// few tries.
func (s *server) fillDisk() {
	s.t.Helper()
	for tries := uint64(0); ; tries++ {
		var found syscall.Statfs_t
		if err := syscall.Statfs(s.disk, &found); err != nil {
			s.t.Fatal(err)
		}
		used := (found.Blocks - found.Bfree) * uint64(found.Bsize) //nolint:gosec,unconvert // its type differs by system
		err := s.resizeDisk(fmt.Sprintf("size=%d", used+tries*64<<10))
		if err == nil {
			return
		}
		if tries == 20 {
			s.t.Errorf("the disk stays as it is: %v", err)
			return
		}
	}
}

func (s *server) resizeDisk(size string) error {
	out, err := exec.Command("mount", "-o", "remount,"+size, s.disk).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// makeRoom ends fillDisk. A server that has ended meanwhile, as PostgreSQL does where it cannot write its log, is
// started again; one that has not goes on by itself.
func (s *server) makeRoom() {
	s.t.Helper()
	if err := s.resizeDisk(roomyDisk); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !s.ready(); time.Sleep(50 * time.Millisecond) {
		if s.hasEnded() {
			s.start()
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("a minute after there was room again the server is not ready")
		}
	}
}

// hasEnded reports whether the server's process is over, and takes note of it then.
func (s *server) hasEnded() bool {
	ended, err := syscall.Wait4(s.cmd.Process.Pid, nil, syscall.WNOHANG, nil)
	return err == nil && ended == s.cmd.Process.Pid
}
