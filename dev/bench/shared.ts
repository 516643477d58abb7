import type { BenchCluster } from './bench-cluster.ts';

type Measure<R> = (bench: BenchCluster, say: (text: string) => void) => Promise<R>;

/**
 * One long measurement that gives several rows. The first row of each run measures; the others of the same run take what
 * it has found, and measure themselves where they are measured alone.
 */
export function sharedMeasure<R>(measure: Measure<R>): (row: string) => Measure<R> {
  const results: R[] = [];
  return (row) => {
    let taken = 0;
    return async (bench, say) => {
      const index = taken++;
      const known = results[index];
      if (known !== undefined) {
        say(`${row} was measured together with the row before`);
        return known;
      }
      const result = await measure(bench, say);
      results[index] = result;
      return result;
    };
  };
}
