/** The runner's summary of one output stream. */
export interface StreamReport {
  /** Bytes passed on, at most the limit. */
  readonly bytes: number;
  /** Bytes that the command wrote. */
  readonly total_bytes: number;
  /** SHA-256 of the bytes passed on, before framing; 64 lower-case hex digits. */
  readonly sha256: string;
  readonly truncated: boolean;
}

/** How a command ended: the runner's last log line and its termination message (runner/README.md). */
export interface Trailer {
  readonly v: 1;
  /** 0 to 255; 128 + n for signal n, 124 timeout, 125 to 127 never started. */
  readonly exit_code: number;
  /** Name of the signal that ended the command's process. */
  readonly signal?: string;
  /** `timeout`, `terminated`, `signaled`, `not_found`, `not_executable`, `workdir`, `start_failed`; absent: ended by itself. */
  readonly reason?: string;
  /** One line for people, where the command never started. */
  readonly error?: string;
  /** The kernel killed a process of the container because its memory ran out. */
  readonly oom_killed?: boolean;
  /** RFC 3339, UTC. */
  readonly started_at: string;
  readonly finished_at: string;
  readonly duration_ms: number;
  readonly stdout: StreamReport;
  readonly stderr: StreamReport;
}

/** The kubelet keeps no more of a termination message, and the runner writes no longer trailer. */
export const trailerBytes = 4096;
