// Command rclone is cut down to what the tests need: `rclone serve s3` over a local folder, a real S3-compatible
// server. Leaving out the other backends keeps its build short.
package main

import (
	_ "github.com/rclone/rclone/backend/local"
	_ "github.com/rclone/rclone/backend/memory"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/serve"
	_ "github.com/rclone/rclone/cmd/serve/s3"
	_ "github.com/rclone/rclone/cmd/version"
)

func main() { cmd.Main() }
