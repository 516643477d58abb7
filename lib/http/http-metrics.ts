/** One request that was answered, or whose client left. */
export interface AnsweredRequest {
  /** The contract's operationId, or `unmatched`. */
  readonly operation: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/** Counts what the HTTP service does. */
export interface HttpMetrics {
  requestDone(report: AnsweredRequest): void;
  /** A client reads events; the function is called when it no longer does. */
  streamOpened(operation: string): () => void;
  /** A client was cut off: no room was left for what it had not read. */
  streamCutOff(operation: string): void;
}
