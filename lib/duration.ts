import { AppError } from './errors.ts';

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 } as const;
type Unit = keyof typeof unitMs;
/** Characters of a wrong text that a message shows. */
const shownLength = 40;

const form = /^(0|[1-9][0-9]{0,8})(s|m|h)$/;

/** A duration that is not one integer and a unit, or is out of its bounds. `field` names its place. */
export class DurationError extends AppError {
  override readonly name = 'DurationError';
  readonly field: string;

  constructor(field: string, message: string) {
    super('invalid', `${field}: ${message}`, { reason: 'InvalidDuration' });
    this.field = field;
  }
}

/** Place of the duration, and its bounds. */
interface DurationRules {
  /** Path of the field, for the message. */
  readonly field: string;
  /** `0s` is allowed for delays only (requirements AMB-071). Default false. */
  readonly allowZero?: boolean;
  /** Largest value in milliseconds. Default: what nine digits of hours give. */
  readonly maxMs?: number;
}

/**
 * Milliseconds of `300s`, `5m` or `1h`: one integer and one unit, nothing else (spec 1 §2.6, AMB-071).
 * @throws DurationError naming the field and what to write instead.
 */
export function parseDuration(text: string, rules: DurationRules): number {
  const match = form.exec(text);
  if (match === null) {
    const shown = JSON.stringify(text.slice(0, shownLength));
    throw new DurationError(
      rules.field,
      `${shown} is not a duration; write an integer followed by s, m or h, such as 300s`,
    );
  }
  const ms = Number(match[1]) * unitMs[match[2] as Unit];
  if (ms === 0) refuseZero(text, rules);
  if (ms > (rules.maxMs ?? Number.POSITIVE_INFINITY)) {
    throw new DurationError(rules.field, `${text} is above the limit of ${Number(rules.maxMs) / 1_000}s`);
  }
  return ms;
}

function refuseZero(text: string, { field, allowZero = false }: DurationRules): void {
  if (!allowZero) throw new DurationError(field, `${text} is not allowed; it must be above zero`);
  if (text !== '0s') throw new DurationError(field, `${text} is not allowed; write 0s`);
}
