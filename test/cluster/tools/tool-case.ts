export type Arguments = Readonly<Record<string, unknown>>;

/** Ids that cases before have noted, by a name of the test. */
export type Noted = Readonly<Record<string, string>>;

/** Arguments, or how they follow from what was noted before. */
type Given = Arguments | ((noted: Noted) => Arguments);

/** A tool on the running system: a call that succeeds, and calls that are refused. */
export interface ToolCase {
  readonly tool: string;
  /** A call of another tool that has to be made before. */
  readonly first?: readonly [tool: string, args: Given];
  /** Arguments of the call that succeeds; without those that it requires it is refused. */
  readonly args: Given;
  /** No caller of tools has the right: `want` is what each gets. */
  readonly isNeverGranted?: boolean;
  /** The expected answer of that call; text is compared with the whole of it, or with its beginning by a pattern. */
  readonly want: object | RegExp;
  /** Ids for the cases behind: a name for them, and the field of the answer. */
  readonly notes?: Readonly<Record<string, string>>;
  /** A call that the tool itself refuses: an object that is not there, a state that does not permit it. */
  readonly refused?: readonly [args: Given, text: RegExp];
}

/** Without those whose value is not known yet. */
export const argumentsOf = (given: Given, noted: Noted): Arguments =>
  Object.fromEntries(
    Object.entries(typeof given === 'function' ? given(noted) : given).filter(([, value]) => value !== undefined),
  );
