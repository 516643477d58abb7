import { isSessionRevoked } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import type { GatewayAnswer, GatewayCallContext } from './tool-source.ts';

/**
 * The answer of an invocation that `error` broke off behind the steps in `sent`. A caller that hears of an outage tries again,
 * and those steps would be sent twice.
 * @throws the error, where nothing was sent, or where it says nothing of trying again.
 */
export function brokenOff(error: unknown, sent: readonly string[], context: GatewayCallContext): GatewayAnswer {
  if (sent.length === 0 || !(error instanceof AppError) || isSessionRevoked(context.signal)) throw error;
  const steps = `${sent.length === 1 ? 'step' : 'steps'} ${sent.join(', ')} ${sent.length === 1 ? 'was' : 'were'} sent`;
  const what = `${steps} (invocation ${context.invocationId})`;
  if (error.code === 'invalid') throw new AppError('invalid', `${error.message}; before that, ${what}`, error);
  return {
    content: `OutcomeUnknown: ${what}, and the workflow did not reach its end. Do not repeat the call; look at the audit.`,
    isError: true,
  };
}
