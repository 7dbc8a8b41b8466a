//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// isolate gives the command a process group of its own, ended as a whole with its context, and another account.
func isolate(cmd *exec.Cmd, as *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if as != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid}
	}
	if cmd.Cancel != nil { // made with a context
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
		cmd.WaitDelay = 5 * time.Second
	}
}

// killGroup ends the command and all its children without asking.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // gone is as good as killed
}

// unprivileged returns the account to run a server as that refuses root, owning dir; nil when the caller is not root.
func unprivileged(dir string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // no account is a valid result: run as the caller
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &account{uid: uint32(uid), gid: uint32(gid), dir: dir}, os.Chown(dir, int(uid), int(gid))
	}
	return nil, fmt.Errorf("the caller is root, and neither the user postgres nor nobody exists")
}
