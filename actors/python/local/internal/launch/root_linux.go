package launch

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// changeRoot makes "/" a file system in memory that holds nothing but paths,
// read-only. It needs a mount namespace of its own, with the right to mount.
func changeRoot(root string, paths []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return wall(WallNamespaces, "private mounts", err)
	}
	if err := unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64k,nr_inodes=256,mode=755"); err != nil {
		return wall(WallNamespaces, "mount the root", err)
	}
	for _, path := range paths {
		if err := show(root, path); err != nil {
			return wall(WallNamespaces, "show "+path, err)
		}
	}
	if err := unix.Chdir(root); err != nil {
		return wall(WallNamespaces, "enter the root", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return wall(WallNamespaces, "pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return wall(WallNamespaces, "leave the old root", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return wall(WallNamespaces, "enter the new root", err)
	}
	err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, "")
	return wall(WallNamespaces, "make the root read-only", err)
}

// show binds path into root at the same place, read-only.
func show(root, path string) error {
	target := filepath.Join(root, path)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else {
		err = os.WriteFile(target, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(path, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	// A remount has to name the flags that are locked in a user namespace.
	var fs unix.Statfs_t
	if err := unix.Statfs(target, &fs); err != nil {
		return err
	}
	keep := uintptr(fs.Flags) & (unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	return unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|keep, "")
}
