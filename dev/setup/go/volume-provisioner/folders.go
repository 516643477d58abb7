package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// hostFolders makes and removes one folder per volume below root. A size-enforcing volume has an image file with the
// folder's name and the suffix .img, mounted on the folder.
type hostFolders struct{ root string }

func (h hostFolders) Provision(
	_ context.Context, options controller.ProvisionOptions,
) (*v1.PersistentVolume, controller.ProvisioningState, error) {
	size := options.PVC.Spec.Resources.Requests[v1.ResourceStorage]
	folder := filepath.Join(h.root, options.PVName)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	if options.StorageClass.Parameters["enforceSize"] == "true" {
		if err := mountImage(folder, size.Value()); err != nil {
			return nil, controller.ProvisioningFinished, err
		}
	}
	// After MkdirAll and any mount: the umask does not apply here, and the mounted root has its own mode.
	if err := os.Chmod(folder, 0o777); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	return persistentVolume(options, folder), controller.ProvisioningFinished, nil
}

func (h hostFolders) Delete(_ context.Context, volume *v1.PersistentVolume) error {
	folder := volume.Spec.HostPath.Path
	if filepath.Dir(folder) != filepath.Clean(h.root) {
		return fmt.Errorf("volume %s lies in %s, outside %s: not removed", volume.Name, folder, h.root)
	}
	if err := unmount(folder); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(folder), os.RemoveAll(folder+".img"))
}

// remount mounts again what a crash of the whole cluster has unmounted, so that claims keep their data.
func (h hostFolders) remount() error {
	images, err := filepath.Glob(filepath.Join(h.root, "*.img"))
	if err != nil {
		return err
	}
	for _, image := range images {
		folder := strings.TrimSuffix(image, ".img")
		mounted, err := isMountPoint(folder)
		if err != nil {
			return err
		}
		if mounted {
			continue
		}
		if err := command("mount", "-o", "loop", image, folder); err != nil {
			return err
		}
	}
	return nil
}

// mountImage is safe to repeat: a provisioner that died half-way through starts over with a new file system.
func mountImage(folder string, bytes int64) error {
	if err := unmount(folder); err != nil {
		return err
	}
	image := folder + ".img"
	file, err := os.Create(image)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Truncate(bytes), file.Close()); err != nil {
		return err
	}
	// No reserved blocks: the size that was asked for is what users get, less the file system's own tables.
	if err := command("mkfs.ext4", "-q", "-F", "-m", "0", image); err != nil {
		return err
	}
	if err := command("mount", "-o", "loop", image, folder); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(folder, "lost+found"))
}

func unmount(folder string) error {
	mounted, err := isMountPoint(folder)
	if err != nil || !mounted {
		return err
	}
	return syscall.Unmount(folder, 0)
}

// isMountPoint compares devices: the folder's and its parent's differ exactly when a file system is mounted on it.
func isMountPoint(folder string) (bool, error) {
	var own, parent syscall.Stat_t
	if err := syscall.Stat(folder, &own); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	if err := syscall.Stat(filepath.Dir(folder), &parent); err != nil {
		return false, err
	}
	return own.Dev != parent.Dev, nil
}

func command(name string, args ...string) error {
	output, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}

func persistentVolume(options controller.ProvisionOptions, folder string) *v1.PersistentVolume {
	kind := v1.HostPathDirectory
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: options.PVName},
		Spec: v1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *options.StorageClass.ReclaimPolicy,
			AccessModes:                   options.PVC.Spec.AccessModes,
			MountOptions:                  options.StorageClass.MountOptions,
			Capacity: v1.ResourceList{
				v1.ResourceStorage: options.PVC.Spec.Resources.Requests[v1.ResourceStorage],
			},
			PersistentVolumeSource: v1.PersistentVolumeSource{
				HostPath: &v1.HostPathVolumeSource{Path: folder, Type: &kind},
			},
		},
	}
}
