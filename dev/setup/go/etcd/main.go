// Command etcd is the upstream server, built from its Go module. It needs a main of its own because `go install`
// refuses upstream's go.mod, which has replace directives.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
