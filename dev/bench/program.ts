import type { BenchCluster } from './bench-cluster.ts';

/** One row of the benchmark. */
export type Program = ClusterProgram | LocalProgram;

interface ProgramHead {
  /** Stable; `--only` takes it. */
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly bar: Bar;
  /** Runs that differ from the three of the others; the long ones have nothing to gain from repetition. */
  readonly runs?: number;
  /** Measured only where an argument asks for it. */
  readonly onRequest?: boolean;
}

export interface ClusterProgram extends ProgramHead {
  /** One measurement. Called once for each run, on a namespace of its own. */
  measure(cluster: BenchCluster, say: (text: string) => void): Promise<Sample>;
}

/** A row that needs processes of this machine alone, and no cluster. */
export interface LocalProgram extends ProgramHead {
  measureLocally(say: (text: string) => void): Promise<Sample>;
}

export const isLocal = (program: Program): program is LocalProgram => 'measureLocally' in program;

/** The judged number of the row: the ratio to the baseline, or our own number. */
export interface Bar {
  readonly of: 'ratio' | 'ours';
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Sample {
  readonly ours: number;
  /** The same work without Windlass: by bare pods, unless the title says otherwise. */
  readonly baseline?: number;
  /** Further numbers worth keeping, by name with unit. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** A program with all its runs. */
export interface Row {
  readonly program: Program;
  readonly samples: readonly Sample[];
}
