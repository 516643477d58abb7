import { denyPattern } from '../../crds/tool-name.ts';

const form = new RegExp(denyPattern);

/** Whether a name fits a pattern, in which `*` is any text. Takes time linear in both, whatever the pattern. */
export function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => matchesName(pattern, name));

/**
 * Whether one of the patterns that keep tools back fits; those of paths fit no tool. One that no definition can hold today,
 * such as `fs.?`, was stored by an older version, and its meaning is not known: it fits every name.
 */
export const matchesDenied = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => matchesName(pattern, name) || !form.test(pattern));

/** Whether one of the patterns of spec.approval fits: there `cmd`, the name that manifests give to cmd.run, means it as well. */
export const matchesApproved = (patterns: readonly string[], name: string): boolean =>
  matchesDenied(patterns, name) || (name === 'cmd.run' && patterns.includes('cmd'));
