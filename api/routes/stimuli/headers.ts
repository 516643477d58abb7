/** Headers as a stimulus keeps them: one that was sent several times has its values joined, as HTTP means it. */
export function headersOf(list: readonly (readonly [name: string, value: string])[]): Record<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of list) {
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
