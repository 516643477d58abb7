/** Files as the commands read them. `-` is standard input. */
export interface FilePort {
  /** The text of a file, or of standard input for `-`. */
  read(path: string): Promise<string>;
  /** The manifests among what `path` names: itself, or the `.yaml`, `.yml` and `.json` files below a directory. */
  manifests(path: string): Promise<readonly string[]>;
}

/** A path as problems and notes name it. */
export const shown = (path: string): string => (path === '-' ? '<stdin>' : path);

/** Standard input as it comes, for commands that answer while they read. */
export interface InputPort {
  /** It is closed when `stop` aborts: an open one keeps the process. */
  standardInput(stop: AbortSignal): AsyncIterable<Uint8Array | string>;
}

/** Files that commands write. */
export interface FileWriter {
  /** Writes a file that its owner alone can read. Throws a usage error where it exists, unless `replace`. */
  writePrivate(path: string, text: string, options: { readonly replace: boolean }): Promise<void>;
}
