import { stringify } from 'yaml';
import { customResourceDefinition } from '../../crds/custom-resource-definition.ts';
import { kinds } from '../../crds/kinds.ts';

const header = '# Generated from crds/ by "npm run generate". Change the schemas there, not this file.\n';

const yaml = (value: object): string =>
  header + stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' });

/** Every generated file by its path from the root of the repository. The same schemas give the same bytes. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map(
    kinds.map((kind) => [`crds/generated/${kind.plural}.yaml`, yaml(customResourceDefinition(kind))] as const),
  );
}
