import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take the longest of their stage, which end last wherever they begin late. The longest first. */
const longest: readonly string[] = [
  'test/cluster/outputs.test.ts',
  'test/cluster/tools/every-tool.test.ts',
  'test/cluster/elections.test.ts',
  'test/cluster/cli.test.ts',
  'test/cluster/git/git.test.ts',
  'test/cluster/hostile/long-turn.test.ts',
  'test/cluster/api/cli-http.test.ts',
  'test/cluster/api/faults.test.ts',
  'test/cluster/api/stimuli-faults.test.ts',
  'test/cluster/api/billing.test.ts',
];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.findIndex((file) => moduleId.endsWith(`/${file}`));
  return place < 0 ? longest.length : place;
};

/** Vitest knows how long a file takes only where it has run before; a fresh clone would go by the size of files. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
