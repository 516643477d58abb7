// Command volume-provisioner answers PersistentVolumeClaims of the development cluster with folders of the machine.
// All nodes share the machine's file system, so every volume can be mounted ReadWriteMany. Folders are writable by any
// user, because a hostPath volume takes no fsGroup and step pods do not run as root.
//
// A StorageClass with the parameter enforceSize: "true" gets a loop-mounted ext4 image of exactly the claimed size
// instead, so that a full volume answers ENOSPC as a real disk does.
package main

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

// ProvisionerName is what the cluster's StorageClasses name.
const ProvisionerName = "windlass.dev/host-folder"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "credentials for the API server")
	folder := flag.String("folder", "", "absolute path of the folder that holds the volumes")
	flag.Parse()
	if err := run(*kubeconfig, *folder); err != nil {
		slog.Error("stopped", "error", err)
		os.Exit(1)
	}
}

func run(kubeconfig, folder string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	volumes := hostFolders{root: folder}
	if err := volumes.remount(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	controller.NewProvisionController(ctx, client, ProvisionerName, volumes, controller.LeaderElection(false)).Run(ctx)
	return nil
}
