import { limits } from '../../crds/limits.ts';

/** Our bounds of an OpenAPI document (design §11). */
export const openApiLimits = {
  /** Bytes of the text. */
  bytes: limits.apiDocumentBytes,
  /** Tokens of a YAML text: each takes some 800 bytes of the thread's heap. A larger document comes as JSON. */
  yamlTokens: 250_000,
  /** Operations that have an operationId. */
  operations: 5_000,
  /** Characters of a path of the document. */
  pathLength: 2_048,
  /** Bytes of heap of the index: twice what 5,000 operations take whose id and path have 150 characters together. */
  indexBytes: 3 * 1024 * 1024,
  /** Problems that are reported. */
  problems: 20,
  /** Characters of the place, and of the message, of a problem. A key of the document may have megabytes. */
  problemLength: 1_024,
  /** References from one path item to another. */
  refHops: 8,
} as const;
