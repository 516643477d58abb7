import type { Clock } from '../../lib/clock.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import { halfJitter } from '../../lib/backoff.ts';
import { isRetryable } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { type Ingest, IngestError } from '../ingest/index.ts';
import { outcomeUnknown } from '../ingest/start-execution.ts';
import type { SensedStimulus, Sensor } from './sensor.ts';

interface SensorLoopDeps {
  readonly ingest: Ingest;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). Default Math.random. */
  readonly random?: () => number;
}

interface SensorSignals {
  /** Nothing more is taken in. */
  readonly stop: AbortSignal;
  /** Stimuli that are still under way are given up. */
  readonly abandon: AbortSignal;
}

/** Stimuli of one sensor that are worked on at the same time. */
export const mostInFlight = 16;

const pauses = { baseMs: 250, maxMs: 10_000 };

/**
 * Hands over what a sensor gives until it ends or `signal` aborts, and resolves when all of it is settled. A stimulus
 * that is refused is logged, and the next one comes. One whose outcome a failure left open is tried again, while the
 * sensor waits, since no sender repeats it. Never rejects.
 */
export async function runSensor(sensor: Sensor, signals: SensorSignals, deps: SensorLoopDeps): Promise<void> {
  const logger = deps.logger.child({ sensor: sensor.name });
  const inFlight = new Set<Promise<void>>();
  let count = 0;
  logger.info({}, 'sensor started');
  try {
    for await (const stimulus of sensor.stimuli(signals.stop)) {
      count += 1;
      const settled = handOver(stimulus, signals.abandon, { ...deps, logger }).finally(() => inFlight.delete(settled));
      inFlight.add(settled);
      if (inFlight.size >= mostInFlight) await Promise.race(inFlight);
    }
  } catch (err) {
    logger.error({ err }, 'sensor failed');
  }
  await Promise.all(inFlight);
  logger.info({ stimuli: count }, 'sensor ended');
}

async function handOver(stimulus: SensedStimulus, abandon: AbortSignal, deps: SensorLoopDeps): Promise<void> {
  const { ingest, clock, logger, random = Math.random } = deps;
  const submission = { ...stimulus, receivedAt: clock.now(), signal: abandon };
  for (let failures = 0; !abandon.aborted; failures++) {
    try {
      await ingest(submission);
      return;
    } catch (error) {
      if (!mayTryAgain(error, stimulus)) return refused(error, logger);
      logger.warn({ problem: messageOf(error), failures: failures + 1 }, 'stimulus not taken in yet');
    }
    await clock.sleep(halfJitter(pauses, failures, random()), abandon);
  }
  logger.error({ source: stimulus.source.name }, 'stimulus given up');
}

/** Without a key a second attempt could start a second execution, once the first may have started one. */
function mayTryAgain(error: unknown, { idempotencyKey }: SensedStimulus): boolean {
  if (!isRetryable(error)) return false;
  return idempotencyKey !== undefined || !(error instanceof AppError && error.reason === outcomeUnknown);
}

function refused(error: unknown, logger: Logger): void {
  if (error instanceof IngestError) {
    const { outcome, originalStimulusId } = error;
    return logger.warn({ outcome, originalStimulusId, problem: error.message }, 'stimulus refused');
  }
  if (error instanceof AppError) return logger.warn({ code: error.code, problem: error.message }, 'stimulus refused');
  logger.error({ err: error }, 'stimulus failed');
}
