import type { Program } from './program.ts';

interface Wish {
  /** Names; undefined for all that are not measured on request alone. */
  readonly only?: readonly string[];
  /** Whether the rows beside Argo Workflows are asked for, and no others but those of `only`. */
  readonly argo: boolean;
}

/** The programs that the arguments ask for, in the order of the table. */
export const chosenOf = (programs: readonly Program[], { only, argo }: Wish): Program[] =>
  programs.filter(
    ({ name, onRequest = false }) => (only?.includes(name) ?? (!argo && !onRequest)) || (argo && onRequest),
  );
