import type { Readable } from 'node:stream';
import type { Logger } from '../../../lib/logger.ts';
import type { SensedStimulus, Sensor } from '../sensor.ts';
import { readLines } from './lines.ts';
import { readStimulus } from './read-stimulus.ts';

/** Longest line, without its end. */
export const longestLine = 1_048_576;

interface StdinSensorOptions {
  readonly stream: Readable;
  /** Whose stimuli the lines are. */
  readonly tenant: string;
  readonly logger: Logger;
}

/** Newline-delimited JSON, each line one stimulus (spec 1 §2.4); what is not is logged and skipped (AMB-051). */
export function createStdinSensor({ stream, tenant, logger }: StdinSensorOptions): Sensor {
  async function* stimuli(stop: AbortSignal): AsyncGenerator<SensedStimulus> {
    for await (const { number: line, bytes } of readLines(stream, longestLine, stop)) {
      if (bytes !== undefined && bytes.every(isSpace)) continue;
      const read = bytes === undefined ? ('it is too long' as const) : readStimulus(bytes, tenant);
      if (typeof read === 'string') logger.warn({ line, problem: read }, 'line skipped');
      else yield read;
    }
  }
  return { name: 'stdin', stimuli };
}

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d;
