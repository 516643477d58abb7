/** `payload_too_large` as `PayloadTooLarge`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
