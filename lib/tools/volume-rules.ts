import { posix } from 'node:path';
import { matchesName } from './name-pattern.ts';

const form = /^volume:([^/]+)(\/.*)$/s;

/** Those of the rules that are of the volume, as paths below the folder where it is mounted. */
export function volumeRules(
  rules: readonly string[] = [],
  { folder, volume }: { readonly folder: string; readonly volume: string },
): readonly string[] {
  return rules.flatMap((rule) => {
    const [, name = '', path = ''] = form.exec(rule) ?? [];
    return name !== '' && matchesName(name, volume) ? [posix.join(folder, path)] : [];
  });
}
