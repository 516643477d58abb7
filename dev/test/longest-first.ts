import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take minutes. Vitest begins with the largest files, and these are small: beside others they end a stage late. */
const long = ['outputs', 'cli', 'capture', 'git/git', 'tools/every-tool', 'agents/judge-times'].map(
  (name) => `test/cluster/${name}.test.ts`,
);

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = long.findIndex((file) => moduleId.endsWith(`/${file}`));
  return place === -1 ? long.length : place;
};

/** Begins with the files that take longest, then as Vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}
