/**
 * One unit of work is about five nanoseconds of a thread's processor time. Work is counted, never measured by the clock,
 * so that the outcome is the same on every machine (design §11). Each price is what the dearest legal form of its item
 * took on the development machine; `test/hostile/` looks for objects that cost more than they pay.
 */
export const workLimits = {
  /** Budget of one turn of the event loop: 42 ms, which leaves the rest of 100 for what a turn does besides. */
  turn: 8 * 1024 * 1024,
  /** With less than this left a decision begins no further state in its turn. */
  turnReserve: 5 * 1024 * 1024,
  /** Budget of checking one definition, with all its templates, expressions and schemas; some 16,000 tokens. */
  registration: 8 * 1024 * 1024,
} as const;

/** Keys of an object from which on V8 keeps them in a table. */
const tableKeys = 500;

/** Cost of the keys of an object that is written as JSON. */
export const keysPrice = (count: number): number => count * (count < tableKeys ? prices.jsonKey : prices.jsonTableKey);

/** Prices in units of work. */
export const prices = {
  /** One node of a template, one operation of an expression, one pass of a loop. */
  step: 44,
  /** One segment of a path. */
  segment: 8,
  /** One token of a template or expression that is parsed, remembered or not: the outcome must not depend on a memory. */
  token: 500,
  /** One token of an expression; its lexer is our own. */
  expressionToken: 100,
  /** One comparison of a blank by the whitespace control of the template parser. */
  blankStep: 0.5,
  /** One character that is read, that a text takes in, or that is stored. */
  character: 1,
  /** One character that a helper turns into another text. */
  changedCharacter: 2,
  /** One object, list or plain value of JSON that is parsed, besides its characters. */
  parsedNode: 14,
  /** One key of an object of JSON that is parsed, and besides one that the text has not had before. */
  parsedKey: 24,
  parsedNewKey: 96,
  /** One value that is written as JSON or put on the Blackboard, besides its characters. */
  jsonNode: 26,
  /** One key of an object that is written as JSON; in an object of many keys, each is looked up in a table. */
  jsonKey: 32,
  jsonTableKey: 96,
  /** One value of two that are compared, besides its keys. */
  comparedNode: 24,
  /** One byte of a text that is stored in the output store under its hash. */
  storedByte: 0.6,
  /** One byte that is loaded from the output store: of text, and of JSON that becomes a value again. */
  loadedByte: 0.5,
  loadedJsonByte: 6,
} as const;
