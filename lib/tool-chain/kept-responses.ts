import type { KeptPart } from '../tools/web/upstream-room.ts';
import type { Taken } from '../tools/web/answer-room.ts';
import { answerLimits } from './limits.ts';
import { StepFailure } from './step-failure.ts';

/** Memory that is counted for a response; the pool of it has shares for tenants. */
export type HeldResponse = Pick<Taken, 'keep' | typeof Symbol.dispose>;

/** Bytes of heap of what is taken of one response that have no need to be counted. */
export const freeBytes = 4 * 1024;

interface Result {
  readonly step: string;
  /** Its JSON. Undefined where there was no room to keep it, which matters where it turns out to be the answer. */
  readonly text: Buffer | undefined;
  /** No step comes behind it. */
  readonly isLast: boolean;
  /** The place of its response, which it has where it is the last. */
  readonly held?: HeldResponse | undefined;
}

/** Values that extractors took of a response, and its text where that may become the result of the call. */
interface Kept {
  /** Bytes of heap. */
  readonly extracted: number;
  readonly result?: Result;
}

/**
 * Keeps of the responses of a call the values that extractors took, until the call ends, and the text of the result so far. A
 * result before other steps counts to what the call keeps. No call waits for that: a step waits for the place of its response.
 */
export class KeptResponses implements Disposable {
  #extracted = 0;
  #result: Result | undefined;
  readonly #part: KeptPart | undefined;

  constructor(part: KeptPart | undefined) {
    this.#part = part;
  }

  get result(): Result | undefined {
    return this.#result;
  }

  /** The result of an earlier step is needed no more. */
  dropResult(): void {
    this.#result?.held?.[Symbol.dispose]();
    this.#result = undefined;
    this.#hold(this.#extracted);
  }

  /** @throws StepFailure, and nothing changes, where there is no room for it. */
  add({ extracted, result }: Kept): void {
    const sum = this.#extracted + extracted;
    if (sum > answerLimits.keptBytes) throw new StepFailure(tooMuch);
    const before = this.#extracted + counted(this.#result);
    if (!this.#hold(Math.max(sum, before))) throw noRoom();
    if (result?.held?.keep(result.text?.length ?? 0) === false) {
      this.#hold(before);
      throw noRoom();
    }
    this.#extracted = sum;
    this.#result = undefined;
    this.#hold(sum);
    if (result !== undefined)
      this.#result = this.#hold(sum + counted(result)) ? result : { ...result, text: undefined };
  }

  [Symbol.dispose](): void {
    this.#result?.held?.[Symbol.dispose]();
    this.#part?.[Symbol.dispose]();
  }

  #hold(bytes: number): boolean {
    return bytes <= answerLimits.keptBytes && this.#part?.hold(bytes) !== false;
  }
}

/** Bytes that a result has among what the call keeps. */
const counted = (result: Result | undefined): number => {
  const { text, isLast } = result ?? {};
  return text === undefined || isLast === true || text.length <= freeBytes ? 0 : text.length;
};

const tooMuch = `what the call extracts takes more than ${answerLimits.keptBytes} bytes of memory; extract less`;

/** Why a call has no answer whose last step failed. */
export const lostResult =
  `a step behind this one failed, and its result was not kept: a call keeps ${answerLimits.keptBytes} bytes between its steps, and ` +
  'less where others keep much';

const noRoom = (): StepFailure =>
  new StepFailure('the gateway keeps what other calls need between their steps; the step was sent', {
    isOfGateway: true,
  });
