import type { ErrorContract } from '../../../lib/http/contract.ts';

/** The same for an id that is malformed, unknown or another tenant's. */
export const unknownHost: ErrorContract = {
  status: 404,
  error: 'Host not found',
  when: 'The tenant has no host of that id.',
};

export const unknownGroup: ErrorContract = {
  status: 404,
  error: 'Group not found',
  when: 'The tenant has no group of that id.',
};

export const unknownRun: ErrorContract = {
  status: 404,
  error: 'Fleet run not found',
  when: 'The tenant has no fleet run of that id.',
};

/** AMB-108. */
export const notFleetCapable: ErrorContract = {
  status: 400,
  error: 'tool is not fleet capable',
  when: 'The tool works on a single host, and the target is no `Node`.',
};
