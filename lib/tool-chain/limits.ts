import { limits } from '../../crds/limits.ts';

/** Bounds of a tool workflow that are the same in every installation; those that configuration changes are in `ChainLimits`. */
export const toolWorkflowLimits = {
  steps: limits.toolSteps,
  /** Extractors of one step, and characters of one expression. */
  extractors: limits.stepExtractors,
  extractorLength: limits.extractorLength,
  /** Segments of a path, and those among them that visit more than one value. */
  segments: 32,
  manySegments: 4,
  /** Further attempts of `RetryN`. */
  retries: limits.stepRetriesMax,
} as const;

/** Limits of one invocation; the configuration of the gateway sets it. Bytes are those of UTF-8. */
export interface ChainLimits {
  readonly steps: number;
  readonly bodyBytes: number;
  /** Size limit of a response when it is unpacked. */
  readonly responseBytes: number;
  readonly stepMs: number;
  readonly chainMs: number;
}

/** Used where the configuration sets nothing. */
export const chainLimitsDefault: ChainLimits = {
  steps: toolWorkflowLimits.steps,
  bodyBytes: 1024 * 1024,
  responseBytes: 10 * 1024 * 1024,
  stepMs: 30_000,
  chainMs: 300_000,
};

/**
 * Bounds of one response beside its bytes. They are nesting, values of its JSON, and values where a path searches (`*`,
 * `..`, a filter). Values where a number is kept as text take up to two and a half microseconds each. Each keeps one
 * turn within about 100 ms.
 */
export const responseLimits = { values: 250_000, searched: 25_000, exact: 25_000, depth: 64 } as const;

/** Most work of reading: bytes that are parsed in a microsecond, and microseconds for each value of one search. */
export const readingCosts = { bytesPerMicrosecond: 100, searchedValue: 4 } as const;

/**
 * Work of one search: each value that is tested costs `test`, and each comparison and each name of a filter costs one more. A
 * test takes about one and a half microseconds, and a name about four hundredths, so that one turn stays within 100 ms.
 */
export const searchLimits = { work: 1_600_000, test: 32 } as const;

/**
 * Bytes of JSON that a call may make of its responses: those of all values that extractors take, and those of the answer. Two values of
 * one text count twice. `heapBytes` are those of the heap that the values of one response take while it is read, of which a process reads
 * one at a time: a response of 10 MiB has its place in them. `keptBytes` are those that a call keeps between its steps: less than
 * the share of one tenant.
 */
export const answerLimits = {
  stateBytes: 4 * 1024 * 1024,
  bytes: 16 * 1024 * 1024,
  heapBytes: 24 * 1024 * 1024,
  keptBytes: 6 * 1024 * 1024,
} as const;
