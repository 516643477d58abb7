import type { GatewayEvent } from './gateway-event.ts';

/** Writes the audit events of one process into hash chains (ADR 0063). */
export interface AuditChain {
  /**
   * Resolves once the event is stored. Throws AppError `unavailable` where that takes longer than two seconds, which
   * leaves open whether it was stored: the caller then refuses to act. An outcome (`isOutcome`) is kept in that case, and is
   * stored once the bus is back within 120 seconds. An event that is too large is `limit_exceeded`.
   */
  append(event: GatewayEvent): Promise<void>;
  /** Undefined while events can be stored, else why they cannot, in one phrase. */
  problem(): string | undefined;
  /**
   * Stores what waits, without the bus for 5 seconds at most, and signs the ends of the chains. Takes nothing more. The log says
   * how many outcomes are lost.
   */
  close(): Promise<void>;
}
