import { isServerStopping } from '../../lib/http/server-stops.ts';
import type { GatewayAnswer } from './tool-source.ts';

/** The answer to a call that may have had its effect when this process gave it up. */
export const stoppedAnswer = (what: string): GatewayAnswer => ({
  content: `OutcomeUnknown: ${what}; the gateway stopped`,
  isError: true,
});

/** The answer of `call`; where the process gives it up, that it may have run. */
export async function unlessStopped(signal: AbortSignal, call: () => Promise<GatewayAnswer>): Promise<GatewayAnswer> {
  try {
    return await call();
  } catch (error) {
    if (!isServerStopping(signal)) throw error;
    return stoppedAnswer('the tool may have run, look before you call it again');
  }
}
