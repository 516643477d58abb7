/** Keys and list indexes from the root of a document to a value. */
export type Place = readonly (string | number)[];

/** Something wrong in a definition. An error refuses it, a warning is shown and changes nothing. */
export interface Problem {
  /** As `spec.states.build.transitions[0].target`; for people. */
  readonly path: string;
  /** The same place for programs, as for finding line and column. */
  readonly at: Place;
  readonly message: string;
  /** Short name of the broken rule, in snake_case. */
  readonly rule: string;
  readonly severity: 'error' | 'warning';
}

const plainKey = /^[A-Za-z_$][\w$-]*$/;

/** A place as people write it; keys that are no plain words have brackets and quotes. */
export function formatPlace(at: Place): string {
  const text = at.map((key) => {
    if (typeof key === 'number') return `[${key}]`;
    return plainKey.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  });
  return text.join('').replace(/^\./, '');
}

/** A problem in one line: its path and what is wrong there. */
export const lineOfProblem = ({ path, message }: Pick<Problem, 'path' | 'message'>): string => `${path}: ${message}`;

/** A problem that refuses the definition. */
export const errorAt = (at: Place, rule: string, message: string): Problem => ({
  path: formatPlace(at),
  at,
  message,
  rule,
  severity: 'error',
});

/** A problem that only deserves a look. */
export const warningAt = (at: Place, rule: string, message: string): Problem => ({
  ...errorAt(at, rule, message),
  severity: 'warning',
});
