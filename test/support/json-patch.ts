export type JsonPatch = readonly { readonly op: string; readonly path: string; readonly value?: unknown }[];

/** The object after a patch by RFC 6902, as far as our own writes use it. Names need no escape. */
export function applied<T>(object: T, patch: JsonPatch): T {
  const next = structuredClone(object);
  for (const { op, path, value } of patch) {
    const names = path.slice(1).split('/');
    const last = names.pop() ?? '';
    let at = next as Record<string, unknown>;
    for (const name of names) at = at[name] as Record<string, unknown>;
    if (Array.isArray(at) && last === '-') at.push(value);
    else if (Array.isArray(at) && op === 'remove') at.splice(Number(last), 1);
    else if (op === 'remove') delete at[last];
    else at[last] = value;
  }
  return next;
}
