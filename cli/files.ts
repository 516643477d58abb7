/** Files as the commands read them. `-` is standard input. */
export interface FilePort {
  /** The text of a file, or of standard input for `-`. */
  read(path: string): Promise<string>;
  /** The manifests among what `path` names: itself, or the `.yaml`, `.yml` and `.json` files below a directory. */
  manifests(path: string): Promise<readonly string[]>;
}
