const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/**
 * The text of captured bytes, for Blackboard, templates and JSON (requirements AMB-164): each invalid UTF-8 sequence
 * becomes U+FFFD, NUL and a byte order mark stay. The only place where bytes of a command become a string; the output
 * store keeps the bytes.
 */
export function outputText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
