import { limits } from '../../crds/limits.ts';

/** Bounds of a JSON Schema and of one validation; its work is that of its turn (`lib/work/limits.ts`). */
export const schemaLimits = {
  /** Schemas within the schema, the root included. */
  subschemas: 2_000,
  /** Values of the schema document, and their nesting. */
  size: 20_000,
  depth: 100,
  /** Entries of one `enum`, `required` and the like. */
  listEntries: 1_000,
  /** Different patterns; compiling one takes up to five milliseconds. */
  patterns: 30,
  /** Length of a pattern, and instructions it may compile to. */
  patternLength: 512,
  patternInstructions: 2_000,
  /** Instructions of all patterns of a schema together; compiling one takes about a microsecond. */
  instructions: 10_000,
  /** Nesting of a value. */
  valueDepth: limits.jsonDepth,
  /** Nested evaluations; bounds the native stack. */
  evaluationDepth: 500,
  /** Problems that are listed. */
  problems: 100,
  /** Values of an `enum`, and characters of values, that a message shows. */
  shownValues: 20,
  shownLength: 200,
  /** Compiled schemas that are remembered; an instruction of a pattern takes as much as so many characters of a schema. */
  instructionWeight: 8,
  remembered: { keys: 100, length: 256 * 1024 },
} as const;

/** Prices in units of work. */
export const schemaPrices = {
  /** One schema within a schema that is compiled, and one instruction of its patterns; remembered or not. */
  compiled: 300,
  /** One character of a schema, which is written as JSON at each use and read again where it is not remembered. */
  schemaCharacter: 2,
  /** One schema applied to one value. */
  schema: 128,
  /** One keyword, one entry of a list or object that it looks at. */
  entry: 16,
  /** One key of the value that is listed, or that a keyword of the schema names and looks up. */
  key: 64,
  /** One value that is brought into canonical form. */
  canonical: 64,
  /** One character that is compared. */
  character: 1,
  /** One character times one instruction of a pattern, at its worst. */
  patternStep: 20,
} as const;
