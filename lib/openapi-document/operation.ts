import type { Problem } from '../../crds/problem.ts';

/** One operation: where a call is sent. `server` has no slash at its end, `path` begins with one. */
export interface UpstreamOperation {
  readonly method: string;
  readonly path: string;
  readonly server: string;
  /** Required parameters outside the path, each as `query page`: no step sends one. Absent where there are none. */
  readonly needs?: readonly string[];
}

/** Scheme, host and port of a server. */
export const originOf = (server: string): string | undefined => URL.parse(server)?.origin;

/** The parts of a document that tool workflows need. */
export interface OpenApiIndex {
  readonly openapi: string;
  readonly title: string;
  /** Base URL of operations that name no server of their own. */
  readonly server?: string;
  /** Origin that credentials are for: that of `server`, else the one that all operations have; absent where they differ. */
  readonly home?: string;
  /** By operationId; operations without one cannot be named and are left out. */
  readonly operations: ReadonlyMap<string, UpstreamOperation>;
}

export interface OpenApiReading {
  /** Each names its place; the first twenty. */
  readonly problems: readonly Problem[];
  /** Absent where there are problems. */
  readonly index?: OpenApiIndex;
}
