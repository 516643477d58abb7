import { Type } from 'typebox';

/** Environment variables of the sensors (docs/stimuli.md). */
export const sensorVariables = {
  /** Standard input of the process is read: newline-delimited JSON, each line one stimulus. */
  WINDLASS_STDIN_SENSOR: Type.Boolean({ default: false }),
  /** Slug of the tenant whose stimuli they are; unset: the system tenant. */
  WINDLASS_STDIN_TENANT: Type.Optional(Type.String({ minLength: 1 })),
};
