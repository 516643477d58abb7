import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import type { KubernetesObject } from './object.ts';
import { cel, type CelRule } from './parts.ts';

/** A name of blanks alone is found by no caller. */
const scriptRules: CelRule[] = [
  {
    rule: 'self.name.trim() == self.name',
    message: 'name begins or ends with blanks; remove them',
    fieldPath: '.name',
  },
];

/** Code that agents keep for later (spec 3 §10.2, `svc.script.*`). Nothing runs it by itself. */
export const ScriptSpec = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: limits.nameLength,
      description: 'Name for people; svc.script.save keeps it unique in the tenant.',
    }),
    code: Type.String({ minLength: 1, maxLength: limits.scriptLength, description: 'Source code.' }),
    description: Type.Optional(Type.String({ maxLength: 4_096, description: 'Purpose of the script.' })),
    language: Type.Optional(
      Type.String({ minLength: 1, maxLength: limits.nameLength, description: 'Language of the code, such as python.' }),
    ),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: limits.nameLength }), {
        maxItems: limits.scriptTags,
        description: 'Words to find it by.',
        'x-kubernetes-list-type': 'set',
      }),
    ),
  },
  { additionalProperties: false, ...cel(...scriptRules) },
);
export type ScriptSpec = Static<typeof ScriptSpec>;

export const ScriptStatus = Type.Object(
  { observedGeneration: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
);
export type ScriptStatus = Static<typeof ScriptStatus>;
export type Script = KubernetesObject<'Script', ScriptSpec, ScriptStatus>;
