import { Type } from 'typebox';
import { tenantSlugPattern } from '../../lib/tenant/names.ts';

/** Environment variables of the sensors (docs/stimuli.md). */
export const sensorVariables = {
  /** Standard input of the process is read: newline-delimited JSON, each line one stimulus. */
  WINDLASS_STDIN_SENSOR: Type.Boolean({ default: false }),
  /** Slug of the tenant whose stimuli they are; unset: the system tenant. */
  WINDLASS_STDIN_TENANT: Type.Optional(Type.String({ pattern: tenantSlugPattern })),
};
