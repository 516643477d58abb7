import { limits } from '../limits.ts';
import { prototypeKeys } from '../reserved-names.ts';
import type { CelRule } from '../schema/parts.ts';
import { builtInPrefixes, reservedToolSteps } from '../tool-name.ts';
import { celList } from './cel-text.ts';

const isBuiltIn = builtInPrefixes.map((prefix) => `self.name.startsWith('${prefix}')`).join(' || ');

/** Names that begin so belong to built-in tools. */
export const toolNameRules: CelRule[] = [
  {
    rule: `!has(self.name) || !(${isBuiltIn})`,
    message: `a name that begins with ${builtInPrefixes.join(', ')} belongs to a built-in tool; choose another`,
    fieldPath: '.name',
  },
];

/** GW-WF-04: one spec for all steps, by its id or by its name. */
export const toolWorkflowRules: CelRule[] = [
  ...toolNameRules,
  {
    rule: 'has(self.api_spec_id) != has(self.api_spec)',
    message: 'exactly one of api_spec_id and api_spec names the ApiSpec of the steps',
    fieldPath: '.api_spec_id',
  },
  {
    rule: `self.steps.map(s, s.body_template.size()).sum() <= ${limits.toolTemplatesLength}`,
    message: `the body templates of all steps have more than ${limits.toolTemplatesLength} characters`,
    fieldPath: '.steps',
  },
];

const reservedSteps = [...reservedToolSteps, ...prototypeKeys];

/** Rules of one step of a tool workflow. */
export const toolStepRules: CelRule[] = [
  {
    rule: `!(self.name in ${celList(reservedSteps)})`,
    message: `the name is reserved; a step cannot be named ${reservedSteps.join(', ')}`,
    fieldPath: '.name',
  },
];

/** A document is inline or in parts. */
export const apiSpecRules: CelRule[] = [
  {
    rule: 'has(self.document) != has(self.document_parts)',
    message: 'exactly one of document and document_parts holds the OpenAPI document',
    fieldPath: '.document',
  },
];
