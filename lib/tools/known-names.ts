import { isSimilar } from '../../crds/similar-name.ts';
import { anyDenyPattern, builtInPrefixes, builtInTools as known } from '../../crds/tool-name.ts';
import { matchesName } from './name-pattern.ts';

/** Most names that a message lists. */
const namesListed = 6;

const form = new RegExp(anyDenyPattern);

const isBuiltIn = (name: string): boolean => builtInPrefixes.some((prefix) => name.startsWith(prefix));

/** `cmd` is the name that manifests give to cmd.run; `fs.*` means every name that begins so. */
function isNamed(entry: string): boolean {
  if (entry === 'cmd') return true;
  if (entry.endsWith('.*')) return known.some((name) => name.startsWith(entry.slice(0, -1)));
  return known.includes(entry);
}

/**
 * The problem of an entry of `spec.tools` of an agent, or of the tool of a `call_tool` state. No registered tool may have a name
 * of the built-in ones, so such a name is right or is none. Another name may be that of a tool that is registered later, and
 * is a slip at most.
 */
export function toolNameProblem(
  entry: string,
): { readonly severity: 'error' | 'warning'; readonly message: string } | undefined {
  if (isNamed(entry)) return undefined;
  const near = known.filter((name) => isSimilar(name, entry));
  if (isBuiltIn(entry)) return { severity: 'error', message: `there is no tool ${entry}; ${hint(entry, near)}` };
  if (near.length === 0) return undefined;
  const message = `${entry} is no built-in tool; if no tool is registered by that name, write ${listed(near)}`;
  return { severity: 'warning', message };
}

/** The problem of the name of one built-in tool, as the node configuration lists them: there is none of that name. */
export function builtInNameProblem(name: string): string | undefined {
  if (known.includes(name)) return undefined;
  const near = name === 'cmd' ? ['cmd.run'] : known.filter((tool) => isSimilar(tool, name));
  return `there is no built-in tool ${name}; ${hint(name, near)}`;
}

/**
 * The problem of a pattern of tool names in a SecurityContext: it begins as built-in names do and fits none of them, so it
 * fits nothing. Entries of a deny list that are paths are none.
 */
export function toolPatternProblem(pattern: string): string | undefined {
  if (pattern.startsWith('volume:') || !form.test(pattern)) return undefined;
  if (!isBuiltIn(pattern) || known.some((name) => matchesName(pattern, name))) return undefined;
  return `${pattern} fits no tool; ${hint(
    pattern,
    known.filter((name) => isSimilar(name, pattern)),
  )}`;
}

const listed = (names: readonly string[]): string => names.slice(0, namesListed).join(' or ');

/** The nearest names: one slip of a key away, else those that share the longest beginning up to a dot. */
function hint(written: string, near: readonly string[]): string {
  if (near.length > 0) return `did you mean ${listed(near)}?`;
  for (let at = written.lastIndexOf('.'); at >= 0; at = written.lastIndexOf('.', at - 1)) {
    const beginning = written.slice(0, at + 1);
    const family = known.filter((name) => name.startsWith(beginning));
    if (family.length > 0) return `${beginning}* has ${family.slice(0, namesListed).join(', ')}${more(family.length)}`;
    if (at === 0) break;
  }
  return 'svc.tools.list names those there are';
}

const more = (count: number): string => (count > namesListed ? ` and ${count - namesListed} others` : '');
